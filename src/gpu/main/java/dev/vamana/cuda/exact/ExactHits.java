package dev.vamana.cuda.exact;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The result of an exact search: for every query ordinals and Lucene scores, best first, ties by
 * lower ordinal, NaN scores last. An instance can be reused for further searches.
 */
public final class ExactHits {

  private static final int NAN = 0xFFFFFFFE;
  private static final long NO_KEY = -1;

  private int[][] ordinals = new int[0][];
  private float[][] scores = new float[0][];

  /** Clears the result and makes room for queries. */
  void reset(int queries) {
    ordinals = new int[queries][];
    scores = new float[queries][];
  }

  /** Reads the keys of some queries in the kernels' format. */
  void read(MemorySegment keys, int firstQuery, int queries, int k) {
    for (int q = 0; q < queries; q++) {
      long at = (long) q * k * Long.BYTES;
      int count = k;
      while (count > 0
          && keys.get(ValueLayout.JAVA_LONG, at + (count - 1L) * Long.BYTES) == NO_KEY) {
        count--;
      }
      int[] own = new int[count];
      float[] score = new float[count];
      for (int i = 0; i < count; i++) {
        long key = keys.get(ValueLayout.JAVA_LONG, at + (long) i * Long.BYTES);
        own[i] = (int) key;
        score[i] = score((int) (key >>> 32));
      }
      ordinals[firstQuery + q] = own;
      scores[firstQuery + q] = score;
    }
  }

  /** Replaces the hits of queries that were searched a second time. */
  void replace(int[] queries, ExactHits again) {
    for (int i = 0; i < queries.length; i++) {
      ordinals[queries[i]] = again.ordinals[i];
      scores[queries[i]] = again.scores[i];
    }
  }

  /** Sets the hits of queries without candidates: none. */
  void readNone(int firstQuery, int queries) {
    for (int q = firstQuery; q < firstQuery + queries; q++) {
      ordinals[q] = new int[0];
      scores[q] = new float[0];
    }
  }

  /** Converts the order in a key to a score, as {@code vamana::exact_score} does. */
  private static float score(int order) {
    if (order == NAN) {
      return Float.NaN;
    }
    int sortable = ~order;
    return Float.intBitsToFloat(sortable ^ (sortable < 0 ? 0x80000000 : -1));
  }

  /** Returns the number of queries of the last search. */
  public int queries() {
    return ordinals.length;
  }

  /** Returns the ordinals of a query's hits: k of them, or as many as were accepted. */
  public int[] ordinals(int query) {
    return ordinals[query];
  }

  /** Returns the scores of a query's hits. */
  public float[] scores(int query) {
    return scores[query];
  }
}
