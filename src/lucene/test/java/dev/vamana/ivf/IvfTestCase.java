package dev.vamana.ivf;

import org.apache.lucene.tests.util.LuceneTestCase;

/** Random vectors, their products and their rotations. */
abstract class IvfTestCase extends LuceneTestCase {

  static float[] gaussian(int dimension) {
    float[] vector = new float[dimension];
    for (int d = 0; d < dimension; d++) {
      vector[d] = (float) random().nextGaussian();
    }
    return vector;
  }

  static double product(float[] one, float[] other) {
    double sum = 0;
    for (int d = 0; d < one.length; d++) {
      sum += (double) one[d] * other[d];
    }
    return sum;
  }

  static float[] rotate(Rotation rotation, float[] vector) {
    float[] rotated = new float[rotation.padded()];
    rotation.apply(vector, rotated);
    return rotated;
  }
}
