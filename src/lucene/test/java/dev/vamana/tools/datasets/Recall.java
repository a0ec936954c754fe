package dev.vamana.tools.datasets;

/**
 * Computes recall@k without penalty for ties: a result is a hit if its exact distance is at most
 * the distance of the exact k-th neighbour. Distances are compared as floats, so that the last bits
 * of a double sum do not separate ties.
 */
public final class Recall {
  private final VectorSet set;
  private final int k;

  /**
   * Makes a recall measure.
   *
   * @param k neighbours per query, from 1 to the depth of the set's ground truth
   * @throws IllegalArgumentException if k is out of range
   */
  public Recall(VectorSet set, int k) {
    int depth = set.groundTruth().depth();
    if (k < 1 || k > depth) {
      throw new IllegalArgumentException(
          "k is " + k + ", allowed is [1, " + depth + "], the depth of the ground truth");
    }
    this.set = set;
    this.k = k;
  }

  /**
   * Returns the speed at a recall between two measured points: the logarithm of speed is linear in
   * recall.
   *
   * @param recall the recall, above {@code lowRecall} and at most {@code highRecall}
   */
  public static double speedBetween(
      double recall, double lowRecall, double lowSpeed, double highRecall, double highSpeed) {
    double share = (recall - lowRecall) / (highRecall - lowRecall);
    return Math.exp(Math.log(lowSpeed) * (1 - share) + Math.log(highSpeed) * share);
  }

  /**
   * Counts the hits among the first k results of one query, 0 to k.
   *
   * @param query row of the queries
   * @param results ordinals of the base, best first; may be shorter than k; a repeated ordinal
   *     counts once
   */
  public int hits(int query, int[] results) {
    float kth = set.groundTruth().distances()[query][k - 1];
    int count = Math.min(k, results.length);
    int hits = 0;
    for (int i = 0; i < count; i++) {
      float[] vector = set.base().rows()[results[i]];
      double distance = set.metric().distance(set.queries().rows()[query], vector);
      if ((float) distance <= kth && !repeated(results, i)) {
        hits++;
      }
    }
    return hits;
  }

  /**
   * Mean recall@k over all queries, 0 to 1.
   *
   * @param results {@code [queries][n]} ordinals of the base, of which the first k count
   */
  public double of(int[][] results) {
    if (results.length != set.queries().size()) {
      throw new IllegalArgumentException(
          "results of " + results.length + " queries, the set has " + set.queries().size());
    }
    long hits = 0;
    for (int query = 0; query < results.length; query++) {
      hits += hits(query, results[query]);
    }
    return hits / ((double) k * results.length);
  }

  private static boolean repeated(int[] results, int index) {
    for (int i = 0; i < index; i++) {
      if (results[i] == results[index]) {
        return true;
      }
    }
    return false;
  }
}
