package dev.vamana.tools.datasets;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.apache.lucene.util.VectorUtil;

/** Exhaustive nearest neighbour search, which computes ground truth. */
public final class ExactSearch {
  /**
   * Candidates kept beyond the requested depth by the single-precision scan. Its rounding must not
   * push a true neighbour out before the candidates are ordered in double precision.
   */
  private static final int MARGIN = 32;

  private ExactSearch() {}

  /**
   * Finds the exact neighbours of every query, on all processors.
   *
   * @param depth neighbours per query, at least 1; lowered to the size of the base
   */
  public static GroundTruth groundTruth(
      Metric metric, float[][] base, float[][] queries, int depth) {
    if (depth < 1) {
      throw new IllegalArgumentException("depth must be at least 1, found " + depth);
    }
    int[][] ordinals = new int[queries.length][];
    float[][] distances = new float[queries.length][];
    double[] inverseNorms = metric == Metric.COSINE ? inverseNorms(base) : null;
    IntStream.range(0, queries.length)
        .parallel()
        .forEach(
            q -> {
              Neighbour[] nearest = search(metric, base, inverseNorms, queries[q], depth);
              ordinals[q] = Neighbour.ordinals(nearest);
              distances[q] = Neighbour.distances(nearest);
            });
    return new GroundTruth(ordinals, distances);
  }

  private static Neighbour[] search(
      Metric metric, float[][] base, double[] inverseNorms, float[] query, int depth) {
    int kept = Math.min(base.length, depth + MARGIN);
    Candidates candidates = new Candidates(kept);
    for (int ordinal = 0; ordinal < base.length; ordinal++) {
      candidates.offer(ordinal, roughDistance(metric, base, inverseNorms, query, ordinal));
    }
    int[] found = Arrays.copyOf(candidates.ordinals, candidates.size);
    return nearest(metric, base, query, found, depth);
  }

  private static Neighbour[] nearest(
      Metric metric, float[][] base, float[] query, int[] candidates, int depth) {
    Neighbour[] nearest = new Neighbour[candidates.length];
    for (int i = 0; i < nearest.length; i++) {
      int ordinal = candidates[i];
      nearest[i] = new Neighbour(ordinal, metric.distance(query, base[ordinal]));
    }
    Arrays.sort(nearest);
    return Arrays.copyOf(nearest, Math.min(depth, nearest.length));
  }

  private static float roughDistance(
      Metric metric, float[][] base, double[] inverseNorms, float[] query, int ordinal) {
    float[] vector = base[ordinal];
    return switch (metric) {
      case L2 -> VectorUtil.squareDistance(query, vector);
      case IP -> -VectorUtil.dotProduct(query, vector);
      // the query's norm does not change the order
      case COSINE -> (float) (-VectorUtil.dotProduct(query, vector) * inverseNorms[ordinal]);
    };
  }

  private static double[] inverseNorms(float[][] base) {
    return Arrays.stream(base)
        .mapToDouble(
            vector -> {
              double norm = Math.sqrt(-Metric.IP.distance(vector, vector));
              return norm == 0 ? 0 : 1 / norm;
            })
        .toArray();
  }

  /** Keeps the nearest rows seen so far in a binary heap with the farthest on top. */
  private static final class Candidates {
    private final int[] ordinals;
    private final float[] distances;
    private int size;

    Candidates(int capacity) {
      ordinals = new int[capacity];
      distances = new float[capacity];
    }

    void offer(int ordinal, float distance) {
      if (size < ordinals.length) {
        int slot = size++;
        while (slot > 0 && farther(ordinal, distance, (slot - 1) / 2)) {
          move((slot - 1) / 2, slot);
          slot = (slot - 1) / 2;
        }
        set(slot, ordinal, distance);
      } else if (distance < distances[0]) {
        int slot = 0;
        for (int child = 1; child < size; child = 2 * slot + 1) {
          if (child + 1 < size && farther(ordinals[child + 1], distances[child + 1], child)) {
            child++;
          }
          if (farther(ordinal, distance, child)) {
            break;
          }
          move(child, slot);
          slot = child;
        }
        set(slot, ordinal, distance);
      }
    }

    /**
     * Whether a row is farther than the row in a slot. At equal distance the later row is farther.
     */
    private boolean farther(int ordinal, float distance, int slot) {
      return distance == distances[slot] ? ordinal > ordinals[slot] : distance > distances[slot];
    }

    private void move(int from, int to) {
      set(to, ordinals[from], distances[from]);
    }

    private void set(int slot, int ordinal, float distance) {
      ordinals[slot] = ordinal;
      distances[slot] = distance;
    }
  }
}
