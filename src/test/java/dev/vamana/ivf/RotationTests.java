package dev.vamana.ivf;

import java.util.Arrays;

/** Rotations keep lengths and angles, can be turned back and depend on their seed alone. */
public class RotationTests extends IvfTestCase {

  public void testKeepsProductsAndTurnsBack() {
    for (int i = 0; i < 20; i++) {
      int dimension = 1 + random().nextInt(i == 0 ? 4096 : 900);
      Rotation rotation = new Rotation(dimension, random().nextLong());
      assertEquals(0, rotation.padded() % 64);
      float[] one = gaussian(dimension);
      float[] other = gaussian(dimension);
      float[] rotatedOne = rotate(rotation, one);
      float[] rotatedOther = rotate(rotation, other);
      double scale = Math.sqrt(product(one, one) * product(other, other));
      assertEquals(product(one, other), product(rotatedOne, rotatedOther), 1e-5 * scale);
      assertEquals(1, product(rotatedOne, rotatedOne) / product(one, one), 1e-5);
      float[] back = new float[dimension];
      rotation.invert(rotatedOne, back);
      assertArrayEquals(one, back, 1e-4f);
    }
  }

  public void testSameSeedSameRotation() {
    int dimension = 1 + random().nextInt(300);
    long seed = random().nextLong();
    float[] vector = gaussian(dimension);
    float[] rotated = rotate(new Rotation(dimension, seed), vector);
    assertArrayEquals(rotated, rotate(new Rotation(dimension, seed), vector), 0);
    assertFalse(Arrays.equals(rotated, rotate(new Rotation(dimension, seed + 1), vector)));
  }

  /** Rotating vectors together gives the same bits as one after the other. */
  public void testTogether() {
    for (int i = 0; i < 10; i++) {
      int dimension = 1 + random().nextInt(i == 0 ? 4096 : 900);
      Rotation rotation = new Rotation(dimension, random().nextLong());
      RotationTogether together = rotation.together();
      // the second call finds rows that the first has left
      for (int call = 0; call < 2; call++) {
        int count = 1 + random().nextInt(together.most());
        float[][] vectors = new float[count][];
        float[][] targets = new float[together.most()][rotation.padded()];
        for (int v = 0; v < count; v++) {
          vectors[v] = gaussian(dimension);
        }
        together.apply(vectors, count, targets);
        for (int v = 0; v < count; v++) {
          assertArrayEquals(rotate(rotation, vectors[v]), targets[v], 0);
        }
      }
    }
  }

  /** A vector with one component becomes one in which no component stands out. */
  public void testSpreadsComponents() {
    for (int dimension : new int[] {64, 100, 384, 784}) {
      Rotation rotation = new Rotation(dimension, random().nextLong());
      float[] vector = new float[dimension];
      vector[random().nextInt(dimension)] = 1;
      float most = 0;
      for (float component : rotate(rotation, vector)) {
        most = Math.max(most, Math.abs(component));
      }
      // sums of random signs: each of at most 832 components is above 8 / sqrt(D) with a
      // probability of 2 exp(-32), so that no seed gets there
      assertTrue(dimension + ": " + most, most <= 8 / Math.sqrt(rotation.padded()));
    }
  }
}
