package dev.vamana.pq;

import java.util.Arrays;

/**
 * Inner loops over the 256 centroids of a subspace, or fewer, written so that the JIT compiler
 * vectorizes them.
 *
 * <p>Centroids are given as columns: {@code columns[first + d][c]} is component {@code d} of
 * centroid {@code c}, and a column is as long as there are centroids. Every column is a separate
 * array, because C2 does not vectorize the loops below if several operands are windows of one array
 * (measured, see docs/internals/pq.md). A pass handles up to four dimensions, so that the
 * accumulators are loaded and stored less often.
 *
 * <p>All arithmetic is plain multiplication and addition in a fixed order, without fused
 * multiply-add, so results are bit-equal on every machine and with every compiler.
 */
final class CentroidKernels {

  /** Number of centroids of a subspace: the number of values of a byte. */
  static final int CENTROIDS = Codebook.CENTROIDS;

  private static final int LANES = 16;

  private CentroidKernels() {}

  /**
   * Computes squared Euclidean distances of {@code x[from..from+length)} to all centroids.
   *
   * @param columns centroid columns
   * @param first column of the subspace's first dimension
   * @param length dimensions of the subspace, at least 1
   * @param out receives a distance for each centroid
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
   * Adds the squares of further components to squared distances.
   *
   * @param first column of the first component
   * @param length components, a multiple of 4
   * @param out a distance for each centroid
   */
  static void addSquaredDistances(
      float[][] columns, int first, int length, float[] x, int from, float[] out) {
    for (int d = 0; d < length; d += 4) {
      addDistances4(x, from + d, columns, first + d, out);
    }
  }

  /**
   * Computes inner products of {@code x[from..from+length)} with all centroids, times {@code sign}.
   *
   * @param sign 1 or -1
   * @param out receives a product for each centroid
   */
  static void innerProducts(
      float[][] columns, int first, int length, float[] x, int from, float sign, float[] out) {
    Arrays.fill(out, 0, CENTROIDS, 0);
    int d = 0;
    for (; d + 4 <= length; d += 4) {
      addProducts4(sign, x, from + d, columns, first + d, out);
    }
    for (; d < length; d++) {
      addProducts1(sign * x[from + d], columns[first + d], out);
    }
  }

  /**
   * Returns the index of the smallest of 256 values; the lowest index of equal ones.
   *
   * @param values 256 values without NaN
   * @param scratch at least 128 elements
   */
  static int argmin(float[] values, float[] scratch) {
    // Folding in halves vectorizes. It ends with the minima of 16 lanes (index modulo 16), and only
    // lanes that hold the overall minimum are searched for its index.
    for (int i = 0; i < 128; i++) {
      scratch[i] = Math.min(values[i], values[i + 128]);
    }
    for (int i = 0; i < 64; i++) {
      scratch[i] = Math.min(scratch[i], scratch[i + 64]);
    }
    for (int i = 0; i < 32; i++) {
      scratch[i] = Math.min(scratch[i], scratch[i + 32]);
    }
    for (int i = 0; i < LANES; i++) {
      scratch[i] = Math.min(scratch[i], scratch[i + LANES]);
    }
    float min =
        Math.min(
            Math.min(minOfFour(scratch, 0), minOfFour(scratch, 4)),
            Math.min(minOfFour(scratch, 8), minOfFour(scratch, 12)));
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

  private static float minOfFour(float[] a, int i) {
    return Math.min(Math.min(a[i], a[i + 1]), Math.min(a[i + 2], a[i + 3]));
  }

  private static void setDistances1(float x0, float[] t0, float[] out) {
    for (int c = 0; c < t0.length; c++) {
      float difference = x0 - t0[c];
      out[c] = difference * difference;
    }
  }

  private static void setDistances2(float x0, float x1, float[] t0, float[] t1, float[] out) {
    for (int c = 0; c < t0.length; c++) {
      float difference = x0 - t0[c];
      float sum = difference * difference;
      difference = x1 - t1[c];
      out[c] = sum + difference * difference;
    }
  }

  private static void setDistances3(float[] x, int from, float[][] columns, int at, float[] out) {
    float x0 = x[from];
    float x1 = x[from + 1];
    float x2 = x[from + 2];
    float[] t0 = columns[at];
    float[] t1 = columns[at + 1];
    float[] t2 = columns[at + 2];
    for (int c = 0; c < t0.length; c++) {
      float difference = x0 - t0[c];
      float sum = difference * difference;
      difference = x1 - t1[c];
      sum += difference * difference;
      difference = x2 - t2[c];
      out[c] = sum + difference * difference;
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
    for (int c = 0; c < t0.length; c++) {
      float difference = x0 - t0[c];
      float sum = difference * difference;
      difference = x1 - t1[c];
      sum += difference * difference;
      difference = x2 - t2[c];
      sum += difference * difference;
      difference = x3 - t3[c];
      out[c] = sum + difference * difference;
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
    for (int c = 0; c < t0.length; c++) {
      float difference = x0 - t0[c];
      float sum = out[c] + difference * difference;
      difference = x1 - t1[c];
      sum += difference * difference;
      difference = x2 - t2[c];
      sum += difference * difference;
      difference = x3 - t3[c];
      out[c] = sum + difference * difference;
    }
  }

  private static void addProducts1(float x, float[] t, float[] out) {
    for (int c = 0; c < t.length; c++) {
      out[c] += x * t[c];
    }
  }

  private static void addProducts4(
      float sign, float[] x, int from, float[][] columns, int at, float[] out) {
    float x0 = sign * x[from];
    float x1 = sign * x[from + 1];
    float x2 = sign * x[from + 2];
    float x3 = sign * x[from + 3];
    float[] t0 = columns[at];
    float[] t1 = columns[at + 1];
    float[] t2 = columns[at + 2];
    float[] t3 = columns[at + 3];
    for (int c = 0; c < t0.length; c++) {
      float sum = out[c] + x0 * t0[c];
      sum += x1 * t1[c];
      sum += x2 * t2[c];
      out[c] = sum + x3 * t3[c];
    }
  }
}
