package dev.vamana.ivf;

/**
 * The orthogonal matrix nearest to a square one, by Newton's iteration with scaling (Higham, 1986):
 * {@code X <- (g X + X^-T / g) / 2}. It solves the Procrustes problem: the rotation Q with least
 * {@code |Z Q - Y|} is the factor of {@code Z^T Y}.
 */
final class PolarFactor {

  private static final int MOST_ITERATIONS = 40;
  private static final double CLOSE = 1e-10;
  private static final double ORTHOGONAL = 1e-6;

  private PolarFactor() {}

  /**
   * Returns the factor, or null if the matrix is singular or not finite.
   *
   * @param matrix rows, as many as columns; not changed
   */
  static double[][] of(double[][] matrix) {
    double[][] x = matrix;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
      double[][] inverse = inverse(x);
      if (inverse == null) {
        return null;
      }
      double scale = Math.sqrt(norm(inverse) / norm(x));
      double[][] next = new double[x.length][x.length];
      double change = 0;
      for (int row = 0; row < x.length; row++) {
        for (int column = 0; column < x.length; column++) {
          next[row][column] = (scale * x[row][column] + inverse[column][row] / scale) / 2;
          change = Math.max(change, Math.abs(next[row][column] - x[row][column]));
        }
      }
      x = next;
      if (change <= CLOSE) {
        break;
      }
    }
    return isOrthogonal(x) ? x : null;
  }

  private static boolean isOrthogonal(double[][] x) {
    for (int i = 0; i < x.length; i++) {
      for (int j = 0; j <= i; j++) {
        double product = 0;
        for (int d = 0; d < x.length; d++) {
          product += x[i][d] * x[j][d];
        }
        // a comparison with NaN is false
        if ((Math.abs(product - (i == j ? 1 : 0)) <= ORTHOGONAL) == false) {
          return false;
        }
      }
    }
    return true;
  }

  private static double norm(double[][] x) {
    double sum = 0;
    for (double[] row : x) {
      for (double value : row) {
        sum += value * value;
      }
    }
    return Math.sqrt(sum);
  }

  /** Returns the inverse by Gauss and Jordan's elimination with row pivots, or null without one. */
  private static double[][] inverse(double[][] matrix) {
    int n = matrix.length;
    double[][] left = new double[n][];
    double[][] right = new double[n][n];
    for (int row = 0; row < n; row++) {
      left[row] = matrix[row].clone();
      right[row][row] = 1;
    }
    for (int column = 0; column < n; column++) {
      int pivot = column;
      for (int row = column + 1; row < n; row++) {
        if (Math.abs(left[row][column]) > Math.abs(left[pivot][column])) {
          pivot = row;
        }
      }
      double value = left[pivot][column];
      if (value == 0 || Double.isFinite(value) == false) {
        return null;
      }
      swap(left, pivot, column);
      swap(right, pivot, column);
      add(left[column], left[column], 1 / value - 1);
      add(right[column], right[column], 1 / value - 1);
      for (int row = 0; row < n; row++) {
        double times = left[row][column];
        if (row != column && times != 0) {
          add(left[row], left[column], -times);
          add(right[row], right[column], -times);
        }
      }
    }
    return right;
  }

  private static void swap(double[][] rows, int one, int other) {
    double[] row = rows[one];
    rows[one] = rows[other];
    rows[other] = row;
  }

  private static void add(double[] target, double[] row, double times) {
    for (int d = 0; d < target.length; d++) {
      target[d] += times * row[d];
    }
  }
}
