package dev.vamana.cuda.exact;

import java.util.Arrays;
import org.apache.lucene.index.VectorEncoding;

/**
 * A batch of queries for exact search: all with the same k, and with the same candidates. {@link
 * ExactScans} searches it.
 *
 * @param floats the queries over rows of floats, or null
 * @param bytes the queries over rows of bytes, or null
 * @param k hits of each query, 1 to 10,000
 * @param acceptedBits device address of the bitset of {@link #accepting}; 0 if there is none
 * @param ordinals the accepted ordinals of {@link #among}; null if the bitset applies or all rows
 *     are accepted
 */
public record ExactBatch(
    float[][] floats, byte[][] bytes, int k, long acceptedBits, int[] ordinals) {

  /** Most hits of a query. */
  public static final int MAX_K = 10_000;

  /** Checks k. */
  public ExactBatch {
    if (k < 1 || k > MAX_K) {
      throw new IllegalArgumentException("k must be 1 to " + MAX_K + ", got " + k);
    }
  }

  /**
   * Makes a batch of queries over all rows of floats.
   *
   * @param queries as many components each as the rows
   * @param k hits of each query, 1 to 10,000
   */
  public static ExactBatch of(float[][] queries, int k) {
    return new ExactBatch(queries, null, k, 0, null);
  }

  /**
   * Makes a batch of queries over all rows of bytes.
   *
   * @param queries as many components each as the rows
   * @param k hits of each query, 1 to 10,000
   */
  public static ExactBatch of(byte[][] queries, int k) {
    return new ExactBatch(null, queries, k, 0, null);
  }

  /**
   * Returns the same queries, restricted to the ordinals of a bitset.
   *
   * @param bits device address of 64-bit words for all rows; bit o % 64 of word o / 64 stands for
   *     ordinal o
   */
  public ExactBatch accepting(long bits) {
    return new ExactBatch(floats, bytes, k, bits, null);
  }

  /**
   * Returns the same queries, restricted to a list of ordinals. Only these rows are read.
   *
   * @param accepted distinct ordinals in ascending order; the search does not change or keep the
   *     array
   */
  public ExactBatch among(int[] accepted) {
    for (int i = 0; i < accepted.length; i++) {
      if (accepted[i] < 0 || (i > 0 && accepted[i] <= accepted[i - 1])) {
        throw new IllegalArgumentException(
            "accepted ordinals must ascend from 0, got " + accepted[i] + " at " + i);
      }
    }
    return new ExactBatch(floats, bytes, k, 0, accepted);
  }

  /** Returns a batch of some of the queries. */
  ExactBatch select(int[] queries) {
    if (floats != null) {
      float[][] some = new float[queries.length][];
      Arrays.setAll(some, i -> floats[queries[i]]);
      return new ExactBatch(some, null, k, acceptedBits, ordinals);
    }
    byte[][] some = new byte[queries.length][];
    Arrays.setAll(some, i -> bytes[queries[i]]);
    return new ExactBatch(null, some, k, acceptedBits, ordinals);
  }

  /** Returns the number of queries. */
  public int size() {
    return floats != null ? floats.length : bytes.length;
  }

  VectorEncoding encoding() {
    return floats != null ? VectorEncoding.FLOAT32 : VectorEncoding.BYTE;
  }

  /** Whether the squares of a query's components add up to zero. */
  boolean zero(int query) {
    int length = floats != null ? floats[query].length : bytes[query].length;
    for (int d = 0; d < length; d++) {
      float component = floats != null ? floats[query][d] : bytes[query][d];
      if (component * component != 0) {
        return false;
      }
    }
    return true;
  }

  /** Throws if the queries do not fit the rows. */
  void check(ExactRows rows) {
    if (encoding() != rows.encoding()) {
      throw new IllegalArgumentException(
          "queries of " + encoding() + " over rows of " + rows.encoding());
    }
    for (int q = 0; q < size(); q++) {
      int length = floats != null ? floats[q].length : bytes[q].length;
      if (length != rows.dimension()) {
        throw new IllegalArgumentException(
            "query " + q + " has " + length + " components, rows have " + rows.dimension());
      }
    }
    if (ordinals != null && ordinals.length > 0 && ordinals[ordinals.length - 1] >= rows.size()) {
      throw new IllegalArgumentException(
          "accepted ordinal "
              + ordinals[ordinals.length - 1]
              + " is not below the number of rows, "
              + rows.size());
    }
  }
}
