package dev.vamana.vectors;

/** A query for {@link ScalarCodes}, rounded. Immutable after construction. */
public final class ScalarQuery {

  private static final int BITS = ScalarCodes.QUERY_BITS;

  private final long[] words;
  private final float norm;
  private final float lowest;
  private final float step;
  private final float total;

  /**
   * Rounds a query.
   *
   * @param query the query, of unit length where vectors are
   * @param encoder an encoder of {@link ScalarCodes#QUERY_BITS} bits
   */
  public ScalarQuery(float[] query, ScalarEncoder encoder) {
    encoder.encode(query);
    words = new long[BITS * ((query.length + Long.SIZE - 1) / Long.SIZE)];
    encoder.write(words);
    norm = encoder.norm();
    lowest = encoder.lowest();
    step = encoder.step();
    total = encoder.total();
  }

  /** Returns the numbers' bits, as {@link ScalarEncoder#write} writes them. */
  long[] words() {
    return words;
  }

  /** Returns the distance to the mean. */
  public float norm() {
    return norm;
  }

  /**
   * Returns the sum over all components of the query's number times the other number.
   *
   * @param code words of a code, of {@link ScalarCodes#BITS} bits
   */
  public int dot(long[] code) {
    int dot = 0;
    for (int word = 0; word * ScalarCodes.BITS < code.length; word++) {
      for (int bit = 0; bit < ScalarCodes.BITS; bit++) {
        for (int own = 0; own < BITS; own++) {
          long both = code[word * ScalarCodes.BITS + bit] & words[word * BITS + own];
          dot += Long.bitCount(both) << (bit + own);
        }
      }
    }
    return dot;
  }

  /**
   * Estimates the product of the query with a vector, both less the mean.
   *
   * @param dot sum of the products of both numbers
   * @param otherLowest lowest level of the vector
   * @param otherStep its step
   * @param otherSum its step times the sum of its numbers
   */
  public float product(int dot, float otherLowest, float otherStep, float otherSum) {
    return otherLowest * total + lowest * otherSum + step * otherStep * dot;
  }
}
