package dev.vamana.tools.groundtruth;

import dev.vamana.tools.datasets.Metric;

/**
 * Brings vectors to a size at which Lucene's scores tell their distances apart. Scores are sums
 * with one or fractions of them: of vectors that are short beside one, all scores round to the
 * same. All vectors are multiplied by the same power of two, which rounds nothing and changes no
 * order. By {@link Metric#COSINE} vectors get unit length first, so that the inner product orders
 * them.
 */
final class ComparableVectors {

  /** Of the largest component; squared distances stay far below the largest float. */
  private static final int EXPONENT = 16;

  private final boolean unit;
  private final float factor;

  private ComparableVectors(boolean unit, float factor) {
    this.unit = unit;
    this.factor = factor;
  }

  /** For these vectors, which have finite components. */
  static ComparableVectors of(Metric metric, float[][] base, float[][] queries) {
    if (metric == Metric.COSINE) {
      return new ComparableVectors(true, Math.scalb(1f, EXPONENT));
    }
    float largest = Math.max(largest(base), largest(queries));
    // whole numbers differ by one at least, and the device has a faster way for those of a byte
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

  /** Writes what is compared instead of a vector. */
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
