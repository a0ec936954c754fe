package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.LongPredicate;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.BytesRef;
import org.elasticsearch.index.mapper.IdFieldMapper;
import org.elasticsearch.index.mapper.Uid;

/**
 * The ids of all documents of a segment, as Elasticsearch stores them: 4 bytes a document, and the
 * bytes of the id with one or two for their number. Immutable.
 *
 * <p>They are read from the terms of {@code _id}, one after the other, and not from stored fields,
 * where each id lies in a compressed block with whole documents.
 */
final class SegmentIds {

  private static final int NONE = -1;
  private static final int SHORT = 0x7f;

  private final int[] starts;
  private final byte[] bytes;

  private SegmentIds(int[] starts, byte[] bytes) {
    this.starts = starts;
    this.bytes = bytes;
  }

  /**
   * Reads the ids of a segment.
   *
   * @param reserve asked for each further number of bytes before they are used; the bytes that it
   *     allows add up to at least {@link #ramBytesUsed}
   * @return the ids, or null if memory was refused or the ids need more than an array has
   */
  static SegmentIds read(LeafReader reader, LongPredicate reserve) throws IOException {
    int docs = reader.maxDoc();
    Terms terms = reader.terms(IdFieldMapper.NAME);
    if (terms == null || reserve.test((long) docs * Integer.BYTES) == false) {
      return null;
    }
    int[] starts = new int[docs];
    Arrays.fill(starts, NONE);
    byte[] bytes = new byte[0];
    int length = 0;
    PostingsEnum postings = null;
    TermsEnum each = terms.iterator();
    for (BytesRef id = each.next(); id != null; id = each.next()) {
      long needed = (long) length + id.length + 2;
      if (needed > bytes.length) {
        if (needed > Integer.MAX_VALUE - 64) {
          return null;
        }
        int grown = ArrayUtil.oversize((int) needed, 1);
        if (reserve.test((long) grown - bytes.length) == false) {
          return null;
        }
        bytes = Arrays.copyOf(bytes, grown);
      }
      int start = length;
      if (id.length > SHORT) {
        bytes[length++] = (byte) (~SHORT | (id.length >>> 8));
      }
      bytes[length++] = (byte) id.length;
      System.arraycopy(id.bytes, id.offset, bytes, length, id.length);
      length += id.length;
      postings = each.postings(postings, PostingsEnum.NONE);
      for (int doc = postings.nextDoc();
          doc != DocIdSetIterator.NO_MORE_DOCS;
          doc = postings.nextDoc()) {
        starts[doc] = start;
      }
    }
    return new SegmentIds(starts, bytes);
  }

  /**
   * Returns the id of a document, or null if it has none.
   *
   * @param doc in the segment
   */
  String get(int doc) {
    int start = starts[doc];
    if (start == NONE) {
      return null;
    }
    int size = bytes[start++];
    if (size < 0) {
      size = ((size & SHORT) << 8) | (bytes[start++] & 0xff);
    }
    return Uid.decodeId(bytes, start, size);
  }

  /** Memory in bytes. */
  long ramBytesUsed() {
    return (long) starts.length * Integer.BYTES + bytes.length;
  }
}
