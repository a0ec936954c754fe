package dev.vamana.vectors;

/** Makes the codes of vectors for {@link SignCodes}. For one thread. */
public final class SignEncoder {

  private final float[] mean;
  private final float[] centred;
  // what the bits are the signs of: the components, or sums of some of them
  private final float[] values;
  private final SignMix mix;

  /**
   * Makes an encoder.
   *
   * @param mean the mean of all vectors
   * @param mixed whether bits tell the signs of sums of components ({@link SignCodes.Angles#mixed})
   */
  public SignEncoder(float[] mean, boolean mixed) {
    this(mean, mixed ? SignMix.Terms.of(mean.length) : null);
  }

  SignEncoder(float[] mean, SignMix.Terms terms) {
    this.mean = mean;
    this.mix = terms == null ? null : new SignMix(terms);
    this.values = new float[SignCodes.words(mean.length) * Long.SIZE];
    // bits behind the last component stay 0
    this.centred = mix == null ? values : new float[mean.length];
  }

  /**
   * Writes the code of a vector.
   *
   * @param words receives the bits, {@link SignCodes#words} elements
   * @return the distance of the vector to the mean
   */
  public float encode(float[] vector, long[] words) {
    for (int d = 0; d < mean.length; d++) {
      centred[d] = vector[d] - mean[d];
    }
    if (mix != null) {
      mix.apply(centred, values);
    }
    for (int word = 0; word < words.length; word++) {
      long bits = 0;
      for (int d = word * Long.SIZE; d < (word + 1) * Long.SIZE; d++) {
        bits |= values[d] > 0 ? 1L << d : 0;
      }
      words[word] = bits;
    }
    return (float) Math.sqrt(squaredLength(centred, mean.length));
  }

  /** In four sums, since a processor waits for the last addition to each. */
  private static float squaredLength(float[] vector, int length) {
    float a = 0;
    float b = 0;
    float c = 0;
    float d = 0;
    int i = 0;
    for (; i < length - 3; i += 4) {
      a += vector[i] * vector[i];
      b += vector[i + 1] * vector[i + 1];
      c += vector[i + 2] * vector[i + 2];
      d += vector[i + 3] * vector[i + 3];
    }
    for (; i < length; i++) {
      a += vector[i] * vector[i];
    }
    return (a + b) + (c + d);
  }
}
