package dev.vamana.tools.groundtruth;

import dev.vamana.tools.datasets.Metric;

/**
 * Scales vectors so that Lucene's scores can tell their distances apart. A score is one plus a sum,
 * or the inverse of that, so all scores of vectors much shorter than one round to the same value.
 * All vectors are multiplied by the same power of two, which neither rounds nor changes the order.
 * For {@link Metric#COSINE} vectors are scaled to unit length first, so that the inner product
 * orders them.
 */
final class ComparableVectors {

  /**
   * Target exponent of the largest component; squared distances stay far below the largest float.
   */
  private static final int EXPONENT = 16;

  private final boolean unit;
  private final float factor;

  private ComparableVectors(boolean unit, float factor) {
    this.unit = unit;
    this.factor = factor;
  }

  /** Chooses the scale for these vectors, whose components are finite. */
  static ComparableVectors of(Metric metric, float[][] base, float[][] queries) {
    if (metric == Metric.COSINE) {
      return new ComparableVectors(true, Math.scalb(1f, EXPONENT));
    }
    float largest = Math.max(largest(base), largest(queries));
    // whole numbers differ by at least one, and the device scans numbers that fit a byte faster
    if (largest == 0 || (whole(base) && whole(queries))) {
      return new ComparableVectors(false, 1);
    }
    int exponent = Math.min(Float.MAX_EXPONENT, EXPONENT - Math.getExponent(largest));
    return new ComparableVectors(false, Math.scalb(1f, exponent));
  }

  private static float largest(float[][] rows) {
    float largest = 0;
    for (float[] row : rows) {
      for (float component : row) {
        largest = Math.max(largest, Math.abs(component));
      }
    }
    return largest;
  }

  private static boolean whole(float[][] rows) {
    for (float[] row : rows) {
      for (float component : row) {
        if (component != Math.rint(component)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Writes the scaled vector to {@code target}. */
  void convert(float[] vector, float[] target) {
    double scale = factor;
    if (unit) {
      double norm = Math.sqrt(-Metric.IP.distance(vector, vector));
      scale = norm == 0 ? 0 : factor / norm;
    }
    for (int d = 0; d < vector.length; d++) {
      target[d] = (float) (vector[d] * scale);
    }
  }
}
