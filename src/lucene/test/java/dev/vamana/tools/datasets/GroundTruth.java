package dev.vamana.tools.datasets;

import java.util.Arrays;

/**
 * The exact nearest neighbours of each query.
 *
 * @param ordinals {@code [queries][depth]}, rows of the base, nearest first, ties by lower ordinal
 * @param distances {@code [queries][depth]}, the {@link Metric#distance}s of these rows as floats
 */
public record GroundTruth(int[][] ordinals, float[][] distances) {

  public GroundTruth {
    if (ordinals.length != distances.length) {
      throw new IllegalArgumentException(
          "ground truth has ordinals of "
              + ordinals.length
              + " queries and distances of "
              + distances.length);
    }
  }

  /** Number of neighbours per query. */
  public int depth() {
    return ordinals.length == 0 ? 0 : ordinals[0].length;
  }

  /**
   * Completes ordinals from a file with distances. The distances are computed and the rows sorted
   * by them, because files round distances differently and {@link Recall} compares them with {@code
   * <=}.
   *
   * @throws IllegalArgumentException if the number of rows is not the number of queries, or an
   *     ordinal is outside the base
   */
  static GroundTruth of(
      String source, int[][] ordinals, Metric metric, VectorTable base, VectorTable queries) {
    if (ordinals.length != queries.size()) {
      throw new IllegalArgumentException(
          source + ": " + ordinals.length + " rows for " + queries.size() + " queries");
    }
    int[][] sorted = new int[ordinals.length][];
    float[][] distances = new float[ordinals.length][];
    for (int q = 0; q < ordinals.length; q++) {
      Neighbour[] row = new Neighbour[ordinals[q].length];
      for (int i = 0; i < row.length; i++) {
        int ordinal = ordinals[q][i];
        if (ordinal < 0 || ordinal >= base.size()) {
          throw new IllegalArgumentException(
              source
                  + ": row "
                  + q
                  + " names base row "
                  + ordinal
                  + ", allowed is [0, "
                  + (base.size() - 1)
                  + "]");
        }
        row[i] = new Neighbour(ordinal, metric.distance(queries.rows()[q], base.rows()[ordinal]));
      }
      Arrays.sort(row);
      sorted[q] = Neighbour.ordinals(row);
      distances[q] = Neighbour.distances(row);
    }
    return new GroundTruth(sorted, distances);
  }
}
