package dev.vamana.elasticsearch.search;

import java.util.Arrays;

/**
 * Distinct documents in ascending order, and the position of each. Example: the documents 9, 2, 9
 * become 2 and 9, and the position of 9 is 1.
 *
 * <p>The hits of a large batch are many in a range of documents that is not much larger, so they
 * are marked in a bit set instead of being sorted: the bits before a document, counted a word at a
 * time, are its position. Few documents in a wide range are sorted, and looked up by binary search.
 */
final class DistinctDocs {

  /** Bits of the range for each document, up to which marking is cheaper than sorting. */
  private static final int MOST_BITS_A_DOC = 64;

  private final int[] docs;
  private final long[] marked;
  private final int[] before;
  private final int first;

  private DistinctDocs(int[] docs, long[] marked, int[] before, int first) {
    this.docs = docs;
    this.marked = marked;
    this.before = before;
    this.first = first;
  }

  /**
   * Returns the most bytes of an instance.
   *
   * @param count number of documents, with duplicates
   */
  static long ramBytesUsed(long count) {
    long words = count * MOST_BITS_A_DOC / Long.SIZE + 1;
    return count * Integer.BYTES + words * (Long.BYTES + Integer.BYTES);
  }

  /**
   * Finds the distinct documents.
   *
   * @param docs documents in any order, 0 or more; not changed
   * @param count number of documents in the array
   */
  static DistinctDocs of(int[] docs, int count) {
    int least = Integer.MAX_VALUE;
    int most = -1;
    for (int i = 0; i < count; i++) {
      least = Math.min(least, docs[i]);
      most = Math.max(most, docs[i]);
    }
    long range = count == 0 ? 0 : most - (long) least + 1;
    if (count == 0 || range > (long) count * MOST_BITS_A_DOC) {
      return new DistinctDocs(sorted(docs, count), null, null, 0);
    }
    long[] marked = new long[(int) ((range + Long.SIZE - 1) / Long.SIZE)];
    for (int i = 0; i < count; i++) {
      int bit = docs[i] - least;
      marked[bit / Long.SIZE] |= 1L << bit;
    }
    int[] before = new int[marked.length];
    int distinct = 0;
    for (int word = 0; word < marked.length; word++) {
      before[word] = distinct;
      distinct += Long.bitCount(marked[word]);
    }
    int[] ascending = new int[distinct];
    int next = 0;
    for (int word = 0; word < marked.length; word++) {
      for (long bits = marked[word]; bits != 0; bits &= bits - 1) {
        ascending[next++] = least + word * Long.SIZE + Long.numberOfTrailingZeros(bits);
      }
    }
    return new DistinctDocs(ascending, marked, before, least);
  }

  private static int[] sorted(int[] docs, int count) {
    int[] sorted = Arrays.copyOf(docs, count);
    Arrays.sort(sorted);
    int kept = 0;
    for (int doc : sorted) {
      if (kept == 0 || sorted[kept - 1] != doc) {
        sorted[kept++] = doc;
      }
    }
    return Arrays.copyOf(sorted, kept);
  }

  /** Returns the documents, ascending and distinct; not a copy. */
  int[] docs() {
    return docs;
  }

  /**
   * Returns the position of a document in {@link #docs}.
   *
   * @param doc one of the documents
   */
  int position(int doc) {
    if (marked == null) {
      return Arrays.binarySearch(docs, doc);
    }
    int bit = doc - first;
    long lower = marked[bit / Long.SIZE] & ((1L << bit) - 1);
    return before[bit / Long.SIZE] + Long.bitCount(lower);
  }
}
