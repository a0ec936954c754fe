package dev.vamana.ivf;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A random orthogonal map of vectors, made from a seed: the rotation of RaBitQ (Gao and Long, 2024,
 * section 3.1.2), which makes every direction alike. Immutable and thread-safe.
 *
 * <p>A dense random matrix would need memory and time that grow with the square of the dimension.
 * This map has {@value #ROUNDS} rounds, or {@value #MORE_ROUNDS} if the components are not a power
 * of two. Each turns signs at random and applies a Walsh-Hadamard transform to the first or, in
 * every second round, the last power of two of components. If that is not all of them, it then adds
 * and subtracts the two halves. Vectors are padded with zeros to a multiple of 64 components.
 */
public final class Rotation {

  private static final int ROUNDS = 4;
  // with four rounds, one vector in ten of 784 dimensions has a component above 8 / sqrt(832)
  private static final int MORE_ROUNDS = 8;
  private static final int EIGHT = 8;
  static final float HALF_ROOT = (float) Math.sqrt(0.5);

  private final int dimension;
  private final int padded;
  private final int block;
  // for each round and component 1 or -1, times the factor that keeps lengths
  private final float[][] signs;

  /**
   * Makes a rotation.
   *
   * @param dimension components of a vector, at least 1
   * @param seed the same seed gives the same rotation on every machine
   */
  public Rotation(int dimension, long seed) {
    this(dimension, rounds(dimension));
    SplittableRandom random = new SplittableRandom(seed);
    float scale = (float) (1 / Math.sqrt(block));
    for (int round = 0; round < signs.length; round++) {
      int from = start(round);
      for (int d = 0; d < padded; d++) {
        float length = d >= from && d < from + block ? scale : 1;
        signs[round][d] = random.nextBoolean() ? length : -length;
      }
    }
  }

  private Rotation(int dimension, int rounds) {
    this.dimension = dimension;
    this.padded = padded(dimension);
    this.block = Integer.highestOneBit(padded);
    this.signs = new float[rounds][padded];
  }

  /** Returns the map that only pads vectors with zeros. */
  static Rotation identity(int dimension) {
    return new Rotation(dimension, 0);
  }

  /** Returns the components of a rotated vector: the dimension, rounded up to a multiple of 64. */
  public static int padded(int dimension) {
    return (dimension + Long.SIZE - 1) / Long.SIZE * Long.SIZE;
  }

  /** Returns the number of rounds of rotations of vectors with so many components. */
  public static int rounds(int dimension) {
    return Integer.bitCount(padded(dimension)) == 1 ? ROUNDS : MORE_ROUNDS;
  }

  /** Returns the components of a rotated vector. */
  public int padded() {
    return padded;
  }

  /** Returns the number of rounds. */
  public int rounds() {
    return signs.length;
  }

  /** Returns the components that a round transforms, a power of two. */
  public int transformed() {
    return block;
  }

  /** Returns the signs of a round, times the factor that keeps lengths; a copy. */
  public float[] signs(int round) {
    return signs[round].clone();
  }

  private int start(int round) {
    return round % 2 == 0 ? 0 : padded - block;
  }

  /**
   * Rotates a vector.
   *
   * @param vector at least {@code dimension} components
   * @param target receives {@link #padded()} components; another array
   */
  public void apply(float[] vector, float[] target) {
    System.arraycopy(vector, 0, target, 0, dimension);
    Arrays.fill(target, dimension, padded, 0);
    for (int round = 0; round < signs.length; round++) {
      multiply(target, signs[round]);
      hadamard(target, start(round));
      mix(target);
    }
  }

  /** Returns memory in which one thread rotates several vectors at once. */
  RotationTogether together() {
    return new RotationTogether(dimension, padded, block, signs);
  }

  /**
   * Turns a rotated vector back.
   *
   * @param rotated {@link #padded()} components, which are overwritten
   * @param target receives {@code dimension} components; another array
   */
  public void invert(float[] rotated, float[] target) {
    for (int round = signs.length - 1; round >= 0; round--) {
      mix(rotated);
      hadamard(rotated, start(round));
      // signs hold the factor of the transform, which is its own inverse up to that factor
      multiply(rotated, signs[round]);
    }
    System.arraycopy(rotated, 0, target, 0, dimension);
  }

  private void multiply(float[] x, float[] by) {
    for (int d = 0; d < padded; d++) {
      x[d] *= by[d];
    }
  }

  private void hadamard(float[] x, int from) {
    int end = from + block;
    for (int i = from; i < end; i += EIGHT) {
      eight(x, i);
    }
    for (int half = EIGHT; half < block; half *= 2) {
      for (int i = from; i < end; i += 2 * half) {
        sumsAndDifferences(x, i, half);
      }
    }
  }

  /** The first three steps of the transform, which are too narrow for the processor's vectors. */
  private static void eight(float[] x, int i) {
    float a = x[i] + x[i + 1];
    float b = x[i] - x[i + 1];
    float c = x[i + 2] + x[i + 3];
    float d = x[i + 2] - x[i + 3];
    float e = x[i + 4] + x[i + 5];
    float f = x[i + 4] - x[i + 5];
    float g = x[i + 6] + x[i + 7];
    float h = x[i + 6] - x[i + 7];
    float ac = a + c;
    float bd = b + d;
    float aMinusC = a - c;
    float bMinusD = b - d;
    float eg = e + g;
    float fh = f + h;
    float eMinusG = e - g;
    float fMinusH = f - h;
    x[i] = ac + eg;
    x[i + 1] = bd + fh;
    x[i + 2] = aMinusC + eMinusG;
    x[i + 3] = bMinusD + fMinusH;
    x[i + 4] = ac - eg;
    x[i + 5] = bd - fh;
    x[i + 6] = aMinusC - eMinusG;
    x[i + 7] = bMinusD - fMinusH;
  }

  private static void sumsAndDifferences(float[] x, int from, int half) {
    for (int i = from; i < from + half; i++) {
      float a = x[i];
      float b = x[i + half];
      x[i] = a + b;
      x[i + half] = a - b;
    }
  }

  /** Rotates each component of the first half and its partner in the second by 45 degrees. */
  private void mix(float[] x) {
    if (block == padded) {
      return;
    }
    int half = padded / 2;
    for (int d = 0; d < half; d++) {
      float a = x[d];
      float b = x[d + half];
      x[d] = (a + b) * HALF_ROOT;
      x[d + half] = (a - b) * HALF_ROOT;
    }
  }
}
