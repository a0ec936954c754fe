package dev.vamana.search;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/**
 * Accepted ordinals of one segment that any thread may read; what Lucene hands over is confined to
 * the searching thread.
 *
 * <p>Searches without a filter bring the same live documents again and again, as the same instance.
 * What is brought a second time is copied once more and shared from then on, until other documents
 * are: deletions bring a new instance, and so does each filter. Thread-safe.
 */
public final class AcceptedOrdinals {

  private volatile WeakReference<Bits> seen = new WeakReference<>(null);
  private volatile Copy shared;

  /** A copy that nobody changes. */
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

    /** The accepted ordinals. */
    public FixedBitSet bits() {
      return bits;
    }

    /** How many are accepted. */
    public int count() {
      return count;
    }

    /** One and the same reference, whoever asks; empty some time after other ones are shared. */
    public Reference<Copy> reference() {
      return self;
    }
  }

  /**
   * Copies accepted ordinals, unless there is a copy.
   *
   * @param docs accepted documents, as Lucene brings them; null for all
   * @param ordinals the same by ordinal, null for all
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
    FixedBitSet bits = new FixedBitSet(size);
    bits.set(0, size);
    ordinals.applyMask(bits, 0);
    Copy copy = new Copy(docs, bits);
    if (seen.refersTo(docs)) {
      shared = copy;
    } else {
      seen = new WeakReference<>(docs);
    }
    return copy;
  }

  /** The shared copy if it is the one with these bits, else null. */
  @SuppressWarnings("ReferenceEquality") // equal bits of a filter are not shared
  public Copy shared(Bits bits) {
    Copy current = shared;
    return current != null && current.bits == bits ? current : null;
  }
}
