package dev.vamana.cuda.exact;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What a search has found: for every query ordinals and Lucene's scores, best first, ties by lower
 * ordinal, scores that are not a number last. May be used for one search after the other.
 */
public final class ExactHits {

  private static final int NAN = 0xFFFFFFFE;
  private static final long NO_KEY = -1;

  private int[][] ordinals = new int[0][];
  private float[][] scores = new float[0][];

  /** Forgets everything and makes room. */
  void reset(int queries) {
    ordinals = new int[queries][];
    scores = new float[queries][];
  }

  /** Reads the keys of some queries as kernels write them. */
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

  /** Takes over what was found for some queries when they were asked again. */
  void replace(int[] queries, ExactHits again) {
    for (int i = 0; i < queries.length; i++) {
      ordinals[queries[i]] = again.ordinals[i];
      scores[queries[i]] = again.scores[i];
    }
  }

  /** Notes that nothing was accepted. */
  void readNone(int firstQuery, int queries) {
    for (int q = firstQuery; q < firstQuery + queries; q++) {
      ordinals[q] = new int[0];
      scores[q] = new float[0];
    }
  }

  /** {@code vamana::exact_score}. */
  private static float score(int order) {
    if (order == NAN) {
      return Float.NaN;
    }
    int sortable = ~order;
    return Float.intBitsToFloat(sortable ^ (sortable < 0 ? 0x80000000 : -1));
  }

  /** Number of queries of the last search. */
  public int queries() {
    return ordinals.length;
  }

  /** Ordinals of the hits of a query: k, or as many as were accepted. */
  public int[] ordinals(int query) {
    return ordinals[query];
  }

  /** Scores of the hits of a query. */
  public float[] scores(int query) {
    return scores[query];
  }
}
