package dev.vamana.vectors;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Sums of a few components each, with signs, for {@link SignCodes} of vectors whose own components
 * tell little: many hardly vary, or vary with their neighbours, as the pixels of an image. Sums of
 * components from anywhere vary alike. For one vector at a time and one thread; the signs are
 * shared.
 *
 * <p>A sum has {@value #TERMS} components. The first term of all sums is the vector itself, shifted
 * by a number of components, with a sign for each sum; the second is the vector with another shift,
 * and so on. So all sums take one pass of the processor's vector instructions for each term, where
 * a random rotation of 784 components takes as long as 60 distances.
 *
 * <p>Shifts and signs are part of the file format: they must never change.
 */
final class SignMix {

  /** Components of a sum; an even number. */
  static final int TERMS = 16;

  private static final long SEED = 0x51676e4d6978L;

  private final Terms terms;
  private final float[] repeated;
  private final float[] one;
  private final float[] other;

  /**
   * What is added up for vectors of one dimension. Immutable and thread-safe.
   *
   * @param dimension components of a vector
   * @param sums number of sums
   * @param shifts for each term the component that the first sum adds
   * @param signs for each term and sum 1 or -1
   */
  record Terms(int dimension, int sums, int[] shifts, float[][] signs) {

    /** Makes the terms of a dimension, always the same. */
    static Terms of(int dimension) {
      int sums = SignCodes.words(dimension) * Long.SIZE;
      SplittableRandom random = new SplittableRandom(SEED);
      int[] shifts = new int[TERMS];
      float[][] signs = new float[TERMS][sums];
      for (int term = 0; term < TERMS; term++) {
        shifts[term] = random.nextInt(dimension);
        for (int sum = 0; sum < sums; sum++) {
          signs[term][sum] = random.nextBoolean() ? 1 : -1;
        }
      }
      return new Terms(dimension, sums, shifts, signs);
    }
  }

  SignMix(Terms terms) {
    this.terms = terms;
    this.repeated = new float[terms.dimension + terms.sums];
    this.one = new float[terms.sums];
    this.other = new float[terms.sums];
  }

  /**
   * Computes the sums of a vector.
   *
   * @param vector as many components as the dimension
   * @param sums receives a whole number of words of sums
   */
  void apply(float[] vector, float[] sums) {
    int dimension = terms.dimension;
    for (int at = 0; at < repeated.length; at += dimension) {
      System.arraycopy(vector, 0, repeated, at, Math.min(dimension, repeated.length - at));
    }
    Arrays.fill(sums, 0);
    for (int term = 0; term < TERMS; term += 2) {
      // copied, since only loops with one index for all arrays become vector instructions
      System.arraycopy(repeated, terms.shifts[term], one, 0, terms.sums);
      System.arraycopy(repeated, terms.shifts[term + 1], other, 0, terms.sums);
      add(one, terms.signs[term], other, terms.signs[term + 1], sums);
    }
  }

  private static void add(
      float[] one, float[] signs, float[] other, float[] otherSigns, float[] sums) {
    for (int i = 0; i < sums.length; i++) {
      sums[i] += signs[i] * one[i] + otherSigns[i] * other[i];
    }
  }
}
