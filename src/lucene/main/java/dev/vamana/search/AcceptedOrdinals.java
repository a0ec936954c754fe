package dev.vamana.search;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.BitSet;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.LiveDocs;

/**
 * Copies of the accepted ordinals of one segment, readable by any thread. The bits that Lucene
 * passes to a search are confined to the searching thread.
 *
 * <p>Searches without a filter pass the same live documents, as the same instance, again and again.
 * When an instance is passed a second time, its copy is shared from then on, until another instance
 * is passed twice: deletions make a new instance, and so does each filter. Thread-safe.
 */
public final class AcceptedOrdinals {

  /** Ordinals that are looked at to estimate how many are accepted, for all sizes of segments. */
  private static final int SAMPLE = 4_096;

  private volatile Estimate estimate;
  private volatile WeakReference<Bits> seen = new WeakReference<>(null);
  private volatile Copy shared;

  private record Estimate(WeakReference<Bits> docs, int count) {}

  /** An immutable copy of accepted ordinals. */
  public static final class Copy {
    private final WeakReference<Bits> docs;
    private final FixedBitSet bits;
    private final int count;
    private final WeakReference<Copy> self;

    private Copy(Bits docs, FixedBitSet bits) {
      this.docs = new WeakReference<>(docs);
      this.bits = bits;
      this.count = bits.cardinality();
      this.self = new WeakReference<>(this);
    }

    /** Returns the accepted ordinals. */
    public FixedBitSet bits() {
      return bits;
    }

    /** Returns the number of accepted ordinals. */
    public int count() {
      return count;
    }

    /**
     * Returns a weak reference to this copy, always the same object. It is cleared some time after
     * another copy is shared.
     */
    public Reference<Copy> reference() {
      return self;
    }
  }

  /**
   * Returns a copy of accepted ordinals: the shared one, or a fresh one.
   *
   * @param docs accepted documents as passed by Lucene; null for all
   * @param ordinals the same by ordinal; null for all
   * @param size number of ordinals
   * @return null for all
   */
  Copy of(Bits docs, Bits ordinals, int size) {
    if (docs == null || ordinals == null) {
      return null;
    }
    Copy current = shared;
    if (current != null && current.docs.refersTo(docs)) {
      return current;
    }
    Copy copy = new Copy(docs, copy(ordinals, size));
    if (seen.refersTo(docs)) {
      shared = copy;
    } else {
      seen = new WeakReference<>(docs);
    }
    return copy;
  }

  private static FixedBitSet copy(Bits ordinals, int size) {
    FixedBitSet bits = new FixedBitSet(size);
    bits.set(0, size);
    ordinals.applyMask(bits, 0);
    return bits;
  }

  /**
   * Returns accepted ordinals in ascending order. Each is asked for at most once.
   *
   * @param ordinals may have more than {@code size}; null for all
   * @param size number of ordinals
   */
  static DocIdSetIterator iterator(Bits ordinals, int size) {
    if (ordinals == null) {
      return DocIdSetIterator.all(size);
    }
    if (ordinals instanceof LiveDocs live) {
      return live.liveDocsIterator();
    }
    return new BitSetIterator(ordinals instanceof BitSet bits ? bits : copy(ordinals, size), size);
  }

  /**
   * Returns about how many ordinals are accepted: of at most {@value #SAMPLE} ordinals exactly, of
   * more from as many of them, always the same ones. Equal bits have equal estimates. The instance
   * of the last call is remembered.
   *
   * @param docs accepted documents as passed by Lucene
   * @param ordinals the same by ordinal; the same object where each document has a vector
   * @param size number of ordinals
   */
  @SuppressWarnings("ReferenceEquality") // identity: then each document has a vector
  int estimate(Bits docs, Bits ordinals, int size) {
    if (docs == ordinals && docs instanceof LiveDocs live) {
      return size - live.deletedCount();
    }
    Estimate known = estimate;
    if (known != null && known.docs.refersTo(docs)) {
      return known.count;
    }
    int count = sampled(ordinals, size);
    estimate = new Estimate(new WeakReference<>(docs), count);
    return count;
  }

  private static int sampled(Bits ordinals, int size) {
    int sample = Math.min(size, SAMPLE);
    int accepted = 0;
    int from = 0;
    for (int i = 1; i <= sample; i++) {
      int to = (int) ((long) size * i / sample);
      // not at equal distances: documents may be deleted in a pattern
      int at = from + ((i * 0x9E3779B9) >>> 8) % (to - from);
      accepted += ordinals.get(at) ? 1 : 0;
      from = to;
    }
    return sample == 0 ? 0 : (int) Math.round((double) accepted * size / sample);
  }

  /** Returns the shared copy if it consists of these bits, else null. */
  @SuppressWarnings("ReferenceEquality") // identity: equal bits of a filter are not shared
  public Copy shared(Bits bits) {
    Copy current = shared;
    return current != null && current.bits == bits ? current : null;
  }
}
