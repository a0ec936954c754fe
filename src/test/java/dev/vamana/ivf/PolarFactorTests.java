package dev.vamana.ivf;

/** The orthogonal matrix nearest to a given one. */
public class PolarFactorTests extends IvfTestCase {

  private static double[][] random(int length) {
    double[][] matrix = new double[length][length];
    for (double[] row : matrix) {
      for (int d = 0; d < length; d++) {
        row[d] = random().nextGaussian();
      }
    }
    return matrix;
  }

  private static double[][] times(double[][] one, double[][] other) {
    double[][] product = new double[one.length][one.length];
    for (int row = 0; row < one.length; row++) {
      for (int column = 0; column < one.length; column++) {
        for (int d = 0; d < one.length; d++) {
          product[row][column] += one[row][d] * other[d][column];
        }
      }
    }
    return product;
  }

  private static double[][] transposed(double[][] matrix) {
    double[][] transposed = new double[matrix.length][matrix.length];
    for (int row = 0; row < matrix.length; row++) {
      for (int column = 0; column < matrix.length; column++) {
        transposed[column][row] = matrix[row][column];
      }
    }
    return transposed;
  }

  private static void assertEqual(double[][] expected, double[][] actual) {
    for (int row = 0; row < expected.length; row++) {
      assertArrayEquals(expected[row], actual[row], 1e-6);
    }
  }

  private static double[][] unit(int length) {
    double[][] unit = new double[length][length];
    for (int d = 0; d < length; d++) {
      unit[d][d] = 1;
    }
    return unit;
  }

  /** A matrix U H, with orthogonal U and positive definite H, has the factor U. */
  public void testFindsTheFactor() {
    int length = 1 + random().nextInt(40);
    double[][] orthogonal = PolarFactor.of(random(length));
    assertEqual(unit(length), times(orthogonal, transposed(orthogonal)));
    double[][] any = random(length);
    double[][] positive = times(any, transposed(any));
    for (int d = 0; d < length; d++) {
      positive[d][d] += 0.1;
    }
    assertEqual(orthogonal, PolarFactor.of(times(orthogonal, positive)));
  }

  public void testNoFactor() {
    double[][] singular = random(5);
    singular[3] = new double[5];
    assertNull(PolarFactor.of(singular));
    double[][] infinite = random(5);
    infinite[2][1] = random().nextBoolean() ? Double.NaN : Double.POSITIVE_INFINITY;
    assertNull(PolarFactor.of(infinite));
  }
}
