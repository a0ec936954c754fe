package dev.vamana.cuda.exact;

import dev.vamana.search.QueryVector;
import dev.vamana.vectors.ArrayCopy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * A batch of queries for exact search: all with the same k, and with the same candidates. {@link
 * ExactScans} searches it.
 *
 * @param queries vectors of the rows' encoding and dimension
 * @param k hits of each query, 1 to 10,000
 * @param acceptedBits device address of the bitset of {@link #accepting}; 0 if there is none
 * @param ordinals the accepted ordinals of {@link #among}; null if the bitset applies or all rows
 *     are accepted
 */
public record ExactBatch(List<QueryVector> queries, int k, long acceptedBits, int[] ordinals) {

  /** Most hits of a query. */
  public static final int MAX_K = 10_000;

  /** Checks k. */
  public ExactBatch {
    if (k < 1 || k > MAX_K) {
      throw new IllegalArgumentException("k must be 1 to " + MAX_K + ", got " + k);
    }
  }

  /** Makes a batch of queries over all rows. */
  public static ExactBatch of(List<QueryVector> queries, int k) {
    return new ExactBatch(queries, k, 0, null);
  }

  /**
   * Returns the same queries, restricted to the ordinals of a bitset.
   *
   * @param bits device address of 64-bit words for all rows; bit o % 64 of word o / 64 stands for
   *     ordinal o
   */
  public ExactBatch accepting(long bits) {
    return new ExactBatch(queries, k, bits, null);
  }

  /**
   * Returns the same queries, restricted to a list of ordinals. Only these rows are read.
   *
   * @param accepted distinct ordinals in ascending order; the search does not change or keep the
   *     array
   */
  public ExactBatch among(int[] accepted) {
    return new ExactBatch(queries, k, 0, accepted);
  }

  /** Returns a batch of some of the queries. */
  ExactBatch select(int[] some) {
    List<QueryVector> selected = Arrays.stream(some).mapToObj(queries::get).toList();
    return new ExactBatch(selected, k, acceptedBits, ordinals);
  }

  /** Returns the number of queries. */
  public int size() {
    return queries.size();
  }

  /** Writes some queries as floats. */
  void write(int first, int count, int stride, MemorySegment target) {
    for (int q = 0; q < count; q++) {
      long at = (long) q * stride;
      float[] floats = queries.get(first + q).floats();
      if (floats != null) {
        ArrayCopy.toMemory(floats, 0, target, at, floats.length);
      } else {
        byte[] bytes = queries.get(first + q).bytes();
        for (int d = 0; d < bytes.length; d++) {
          target.set(ValueLayout.JAVA_FLOAT, at + (long) d * Float.BYTES, bytes[d]);
        }
      }
    }
  }

  /** Whether the squares of a query's components add up to zero. */
  boolean zero(int query) {
    float[] floats = queries.get(query).floats();
    byte[] bytes = queries.get(query).bytes();
    for (int d = 0; d < queries.get(query).dimension(); d++) {
      float component = floats != null ? floats[d] : bytes[d];
      if (component * component != 0) {
        return false;
      }
    }
    return true;
  }

  /** Throws if the queries do not fit the rows. */
  void check(ExactRows rows) {
    for (QueryVector query : queries) {
      if (query.encoding() != rows.encoding() || query.dimension() != rows.dimension()) {
        throw new IllegalArgumentException(
            "a query has "
                + query.dimension()
                + " components of "
                + query.encoding()
                + ", rows have "
                + rows.dimension()
                + " of "
                + rows.encoding());
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
