package dev.vamana.pq;

/**
 * Inner loops over the 256 centroids of a subspace, written so that the JIT compiler vectorizes
 * them.
 *
 * <p>Centroids are given as columns: {@code columns[first + d][c]} is component {@code d} of
 * centroid {@code c}. Every column is an array of its own, because C2 does not vectorize the loops
 * below when several of their operands are windows of one array (measured, see docs/pq.md). Up to
 * four dimensions are taken in one pass, so that the accumulators are loaded and stored less often.
 *
 * <p>All arithmetic is plain multiplication and addition in a fixed order, without fused
 * multiply-add: results are bit-equal on every machine and with every compiler.
 */
final class CentroidKernels {

  /** Number of centroids of a subspace: what one byte can name. */
  static final int CENTROIDS = Codebook.CENTROIDS;

  private CentroidKernels() {}

  /**
   * Squared Euclidean distances of {@code x[from..from+length)} to all centroids.
   *
   * @param columns centroid columns
   * @param first column of the subspace's first dimension
   * @param length dimensions of the subspace, at least 1
   * @param out receives 256 distances
   */
  static void squaredDistances(
      float[][] columns, int first, int length, float[] x, int from, float[] out) {
    int d = length & 3;
    switch (d) {
      case 0 -> {
        setDistances4(x, from, columns, first, out);
        d = 4;
      }
      case 1 -> setDistances1(x[from], columns[first], out);
      case 2 -> setDistances2(x[from], x[from + 1], columns[first], columns[first + 1], out);
      default -> setDistances3(x, from, columns, first, out);
    }
    for (; d < length; d += 4) {
      addDistances4(x, from + d, columns, first + d, out);
    }
  }

  /**
   * Inner products of {@code x[from..from+length)} with all centroids, times {@code sign}.
   *
   * @param sign 1 or -1
   * @param out receives 256 products
   */
  static void innerProducts(
      float[][] columns, int first, int length, float[] x, int from, float sign, float[] out) {
    setProducts1(sign * x[from], columns[first], out);
    for (int d = 1; d < length; d++) {
      addProducts1(sign * x[from + d], columns[first + d], out);
    }
  }

  /**
   * The index of the smallest of 256 values, the lowest index of those that are equal.
   *
   * @param values 256 values without NaN
   * @param scratch at least 128 elements
   */
  static int argmin(float[] values, float[] scratch) {
    for (int i = 0; i < 128; i++) {
      scratch[i] = Math.min(values[i], values[i + 128]);
    }
    for (int i = 0; i < 64; i++) {
      scratch[i] = Math.min(scratch[i], scratch[i + 64]);
    }
    for (int i = 0; i < LANES; i++) {
      scratch[i] = Math.min(scratch[i], scratch[i + LANES]);
    }
    float min = scratch[0];
    for (int i = 1; i < LANES; i++) {
      min = Math.min(min, scratch[i]);
    }
    int best = CENTROIDS;
    for (int lane = 0; lane < LANES; lane++) {
      if (scratch[lane] == min) {
        int c = lane;
        while (c < best && values[c] != min) {
          c += LANES;
        }
        best = Math.min(best, c);
      }
    }
    return best < CENTROIDS ? best : 0;
  }

  private static final int LANES = 32;

  private static void setDistances1(float x0, float[] t0, float[] out) {
    for (int c = 0; c < CENTROIDS; c++) {
      float d0 = x0 - t0[c];
      out[c] = d0 * d0;
    }
  }

  private static void setDistances2(float x0, float x1, float[] t0, float[] t1, float[] out) {
    for (int c = 0; c < CENTROIDS; c++) {
      float d0 = x0 - t0[c];
      float d1 = x1 - t1[c];
      out[c] = d0 * d0 + d1 * d1;
    }
  }

  private static void setDistances3(float[] x, int from, float[][] columns, int at, float[] out) {
    float x0 = x[from];
    float x1 = x[from + 1];
    float x2 = x[from + 2];
    float[] t0 = columns[at];
    float[] t1 = columns[at + 1];
    float[] t2 = columns[at + 2];
    for (int c = 0; c < CENTROIDS; c++) {
      float d0 = x0 - t0[c];
      float d1 = x1 - t1[c];
      float d2 = x2 - t2[c];
      out[c] = (d0 * d0 + d1 * d1) + d2 * d2;
    }
  }

  private static void setDistances4(float[] x, int from, float[][] columns, int at, float[] out) {
    float x0 = x[from];
    float x1 = x[from + 1];
    float x2 = x[from + 2];
    float x3 = x[from + 3];
    float[] t0 = columns[at];
    float[] t1 = columns[at + 1];
    float[] t2 = columns[at + 2];
    float[] t3 = columns[at + 3];
    for (int c = 0; c < CENTROIDS; c++) {
      float d0 = x0 - t0[c];
      float d1 = x1 - t1[c];
      float d2 = x2 - t2[c];
      float d3 = x3 - t3[c];
      out[c] = (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3);
    }
  }

  private static void addDistances4(float[] x, int from, float[][] columns, int at, float[] out) {
    float x0 = x[from];
    float x1 = x[from + 1];
    float x2 = x[from + 2];
    float x3 = x[from + 3];
    float[] t0 = columns[at];
    float[] t1 = columns[at + 1];
    float[] t2 = columns[at + 2];
    float[] t3 = columns[at + 3];
    for (int c = 0; c < CENTROIDS; c++) {
      float d0 = x0 - t0[c];
      float d1 = x1 - t1[c];
      float d2 = x2 - t2[c];
      float d3 = x3 - t3[c];
      out[c] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3);
    }
  }

  private static void setProducts1(float x, float[] t, float[] out) {
    for (int c = 0; c < CENTROIDS; c++) {
      out[c] = x * t[c];
    }
  }

  private static void addProducts1(float x, float[] t, float[] out) {
    for (int c = 0; c < CENTROIDS; c++) {
      out[c] += x * t[c];
    }
  }
}
