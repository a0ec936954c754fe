package dev.vamana.ivf;

/**
 * Rotates many vectors at once, to the same bits as {@link Rotation#apply}. Equal components of the
 * vectors lie side by side, so each step is a loop over two or four rows from their starts on,
 * which the compiler turns into instructions for many components. Within one vector a step would
 * combine components at two places of the same array, which it does one by one. For one thread.
 */
final class RotationTogether {

  // rows of long vectors would not stay in the processor's cache
  private static final int MANY = 64;
  private static final int FEW = 16;
  private static final int MANY_COMPONENTS = 1024;

  private final int dimension;
  private final int block;
  private final float[][] signs;
  private final float[][] rows;

  /**
   * Makes rows.
   *
   * @param padded components of a rotated vector
   * @param block components that a round transforms, a power of two; the first ones in even rounds,
   *     the last ones in odd ones
   * @param signs for each round and component 1 or -1, times the factor that keeps lengths
   */
  RotationTogether(int dimension, int padded, int block, float[][] signs) {
    this.dimension = dimension;
    this.block = block;
    this.signs = signs;
    this.rows = new float[padded][padded <= MANY_COMPONENTS ? MANY : FEW];
  }

  /** Returns the most vectors of a call. */
  int most() {
    return rows[0].length;
  }

  /**
   * Rotates vectors.
   *
   * @param vectors at least {@code count} of them
   * @param count at most {@link #most()}
   * @param targets receive the rotated vectors; other arrays
   */
  void apply(float[][] vectors, int count, float[][] targets) {
    for (int i = 0; i < count; i++) {
      float[] vector = vectors[i];
      for (int d = 0; d < dimension; d++) {
        rows[d][i] = vector[d];
      }
      for (int d = dimension; d < rows.length; d++) {
        rows[d][i] = 0;
      }
    }
    for (int round = 0; round < signs.length; round++) {
      for (int d = 0; d < rows.length; d++) {
        multiply(rows[d], signs[round][d]);
      }
      transform(round % 2 == 0 ? 0 : rows.length - block);
      if (block < rows.length) {
        mix();
      }
    }
    for (int i = 0; i < count; i++) {
      float[] target = targets[i];
      for (int d = 0; d < rows.length; d++) {
        target[d] = rows[d][i];
      }
    }
  }

  /** The Walsh-Hadamard transform of a block of rows, two steps at a time. */
  private void transform(int from) {
    int half = 1;
    for (; 2 * half < block; half *= 4) {
      for (int i = from; i < from + block; i += 4 * half) {
        for (int row = i; row < i + half; row++) {
          twoSteps(rows[row], rows[row + half], rows[row + 2 * half], rows[row + 3 * half]);
        }
      }
    }
    if (half < block) {
      for (int row = from; row < from + half; row++) {
        step(rows[row], rows[row + half]);
      }
    }
  }

  private static void multiply(float[] x, float by) {
    for (int i = 0; i < x.length; i++) {
      x[i] *= by;
    }
  }

  private static void step(float[] x, float[] y) {
    for (int i = 0; i < x.length; i++) {
      float a = x[i];
      float b = y[i];
      x[i] = a + b;
      y[i] = a - b;
    }
  }

  private static void twoSteps(float[] x, float[] y, float[] z, float[] w) {
    for (int i = 0; i < x.length; i++) {
      float a = x[i];
      float b = y[i];
      float c = z[i];
      float d = w[i];
      float ab = a + b;
      float aMinusB = a - b;
      float cd = c + d;
      float cMinusD = c - d;
      x[i] = ab + cd;
      y[i] = aMinusB + cMinusD;
      z[i] = ab - cd;
      w[i] = aMinusB - cMinusD;
    }
  }

  /** Rotates each row of the first half and its partner in the second by 45 degrees. */
  private void mix() {
    int half = rows.length / 2;
    for (int d = 0; d < half; d++) {
      mix(rows[d], rows[d + half]);
    }
  }

  private static void mix(float[] x, float[] y) {
    for (int i = 0; i < x.length; i++) {
      float a = x[i];
      float b = y[i];
      x[i] = (a + b) * Rotation.HALF_ROOT;
      y[i] = (a - b) * Rotation.HALF_ROOT;
    }
  }
}
