package dev.vamana.vectors;

import java.util.Arrays;
import org.apache.lucene.util.VectorUtil;

/**
 * Rounds the components of a vector, less a mean, to a few levels at equal distances. For {@link
 * ScalarCodes}; for one thread.
 *
 * <p>Every vector has levels of its own: a lowest one and a step, for which the rounded vector is
 * nearly as close as can be. They start evenly within a part of the components' range. Then they
 * are fitted to the components by least squares and the components rounded again, a few times. The
 * part for which the rounded vector is closest is taken.
 */
public final class ScalarEncoder {

  /** Parts of the range, by bits. Fewer levels lie further inside. */
  private static final float[][] PARTS = {{}, {}, {0.7f, 0.45f, 0.25f}, {0.8f}};

  private static final int ROUNDS = 3;

  // squares of larger components might be too large for a float
  private static final float LARGEST = 1e16f;

  private final float[] mean;
  private final int bits;
  private final float highest;
  private final float[] ones;
  private final float[] centred;
  private final float[] numbers;
  private float norm;
  private float total;
  private float lowest;
  private float step;
  private float sum;
  // of the components times their numbers, and of the squares of the numbers
  private float products;
  private float squares;

  /**
   * Makes an encoder.
   *
   * @param mean the mean of all vectors
   * @param bits of a component's number, 2 or 3
   */
  public ScalarEncoder(float[] mean, int bits) {
    this.mean = mean;
    this.bits = bits;
    this.highest = (1 << bits) - 1;
    this.ones = new float[mean.length];
    this.centred = new float[mean.length];
    this.numbers = new float[mean.length];
    Arrays.fill(ones, 1);
  }

  /** Encodes a vector; the other methods tell about the last one. */
  public void encode(float[] vector) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int d = 0; d < mean.length; d++) {
      centred[d] = vector[d] - mean[d];
    }
    for (float component : centred) {
      least = component < least ? component : least;
      most = component > most ? component : most;
    }
    // not "<", for damaged vectors
    if (!(Math.max(most, -least) <= LARGEST)) {
      total = 0;
      flat();
      norm = Float.NaN;
      return;
    }
    total = VectorUtil.dotProduct(centred, ones);
    norm = (float) Math.sqrt(VectorUtil.dotProduct(centred, centred));
    float[] parts = PARTS[bits];
    float best = fit(least, most, parts[0]);
    int chosen = 0;
    for (int i = 1; i < parts.length; i++) {
      float explained = fit(least, most, parts[i]);
      if (explained > best) {
        best = explained;
        chosen = i;
      }
    }
    if (chosen < parts.length - 1) {
      fit(least, most, parts[chosen]);
    }
  }

  /**
   * Fits levels that start within a part of the range; returns how much of the components' variance
   * the rounded vector has.
   */
  private float fit(float least, float most, float part) {
    lowest = least * part;
    step = (most - least) * part / highest;
    int dimension = mean.length;
    float covariance = 0;
    for (int round = 0; round < ROUNDS; round++) {
      if (!(step > 0)) {
        return flat();
      }
      round();
      float variance = dimension * squares - sum * sum;
      covariance = dimension * products - sum * total;
      if (!(variance > 0)) {
        return flat();
      }
      step = covariance / variance;
      lowest = (total - step * sum) / dimension;
    }
    return step * covariance;
  }

  /** All components become their mean. */
  private float flat() {
    step = 0;
    lowest = total / mean.length;
    Arrays.fill(numbers, 0);
    sum = 0;
    products = 0;
    squares = 0;
    return 0;
  }

  private void round() {
    float scale = 1 / step;
    float shift = 0.5f - lowest * scale;
    // loops without sums of floats, which become vector instructions
    for (int d = 0; d < centred.length; d++) {
      numbers[d] = (int) Math.min(highest, Math.max(0, centred[d] * scale + shift));
    }
    sum = VectorUtil.dotProduct(numbers, ones);
    products = VectorUtil.dotProduct(numbers, centred);
    squares = VectorUtil.dotProduct(numbers, numbers);
  }

  /**
   * Writes the numbers of the components.
   *
   * @param words receives, for each 64 components, one word for each bit of their numbers, lowest
   *     first; bits behind the last component are 0
   */
  public void write(long[] words) {
    for (int word = 0; word < words.length; word += bits) {
      int start = word / bits * Long.SIZE;
      int end = Math.min(numbers.length, start + Long.SIZE);
      long first = 0;
      long second = 0;
      long third = 0;
      for (int d = start; d < end; d++) {
        int number = (int) numbers[d];
        first |= (long) (number & 1) << d;
        second |= (long) (number >> 1 & 1) << d;
        third |= (long) (number >> 2) << d;
      }
      words[word] = first;
      words[word + 1] = second;
      if (bits > 2) {
        words[word + 2] = third;
      }
    }
  }

  /**
   * Returns the distance of the vector to the mean; NaN if a component is so large that its square
   * may be none, or is not a number. Such vectors are near to everything by their codes.
   */
  public float norm() {
    return norm;
  }

  /** Returns the sum of the components of the vector less the mean. */
  public float total() {
    return total;
  }

  /** Returns the sum of the numbers. */
  public float sum() {
    return sum;
  }

  /**
   * Returns the distance between two levels; 0 if all components are equal. It is larger than the
   * fitted one: rounding makes the deviations of components from their mean smaller along
   * themselves, and this makes up for it in products with other vectors.
   */
  public float step() {
    int dimension = mean.length;
    float covariance = dimension * products - sum * total;
    float variance = dimension * norm * norm - total * total;
    return covariance > 0 ? Math.max(0, variance) / covariance : 0;
  }

  /** Returns the lowest level, for {@link #step}. */
  public float lowest() {
    return (total - step() * sum) / mean.length;
  }
}
