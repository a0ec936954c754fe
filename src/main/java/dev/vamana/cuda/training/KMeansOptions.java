package dev.vamana.cuda.training;

import dev.vamana.cuda.kernel.KMeansSizes;

/**
 * Options of clustering whole vectors.
 *
 * @param k number of clusters, 1 to 8,192
 * @param iterations most iterations of Lloyd's algorithm, at least 1
 * @param restarts number of further runs with other seeds, at least 0; the lowest error wins
 * @param pool rows from which seeds are drawn, at least k
 * @param tolerance an iteration that lowers the error by less than this fraction is the last, 0
 *     &lt;= tolerance &lt; 1
 * @param seed seed of all random choices
 */
public record KMeansOptions(
    int k, int iterations, int restarts, int pool, double tolerance, long seed) {

  /** Checks the ranges. */
  public KMeansOptions {
    check("k", k, 1, KMeansSizes.MAX_CENTROIDS);
    check("iterations", iterations, 1, Integer.MAX_VALUE);
    check("restarts", restarts, 0, Integer.MAX_VALUE);
    check("pool", pool, k, Integer.MAX_VALUE);
    if (!(tolerance >= 0 && tolerance < 1)) {
      throw new IllegalArgumentException(
          "tolerance must be at least 0 and below 1, got " + tolerance);
    }
  }

  private static void check(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " must be " + least + " to " + most + ", got " + value);
    }
  }
}
