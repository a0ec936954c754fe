package dev.vamana.tools.gpu;

import dev.vamana.cuda.kernel.KMeansSizes;
import dev.vamana.cuda.training.Clusters;
import dev.vamana.cuda.training.DeviceRows;
import dev.vamana.cuda.training.TrainingDevice;
import dev.vamana.work.AbortCheck;
import java.io.IOException;

/**
 * Clusters whole vectors in device memory, with the kernels that cluster parts of vectors when a
 * codebook is trained, and for rows of bytes with those in native-kernels/bench.
 */
public final class WholeClusters {

  private static final long STRIDE = 0x632BE59BD9B4E019L;

  /** Sub-vectors up to this length are short: their seeds are drawn from fewer rows. */
  private static final int SHORT = 16;

  private WholeClusters() {}

  /**
   * The result of clustering.
   *
   * @param centroids k rows of dims floats
   * @param error sum of squared distances to the centroids before the last update
   * @param iterations number of iterations
   */
  public record Result(float[] centroids, double error, int iterations) {}

  /**
   * Clusters rows.
   *
   * @param iterations most iterations of Lloyd's algorithm, at least 1
   * @param restarts number of further runs with other seeds; the lowest error wins
   * @param pool rows from which seeds are drawn, at least k
   */
  public static Result cluster(
      TrainingDevice device,
      DeviceRows rows,
      int k,
      int iterations,
      int restarts,
      int pool,
      long seed)
      throws IOException {
    int most = Math.min(rows.count(), pool);
    if (rows.dims() <= SHORT) {
      most = Math.min(most, KMeansSizes.SHORT_POOL);
    }
    Result best = null;
    try (Clusters clusters = device.clusters(rows, 1, k, most, 0)) {
      for (int restart = 0; restart <= restarts; restart++) {
        long own = seed + STRIDE * restart;
        clusters.begin(most, s -> own);
        int made = clusters.iterate(rows.count(), iterations, AbortCheck.NEVER);
        if (best == null || clusters.error(0) < best.error()) {
          best = new Result(clusters.centroids(), clusters.error(0), made);
        }
      }
    }
    return best;
  }
}
