package dev.vamana.search;

import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/**
 * Accepted ordinals that any thread may read; what Lucene hands over is confined to the searching
 * thread.
 */
final class AcceptedOrdinals {

  private AcceptedOrdinals() {}

  /**
   * Copies accepted ordinals.
   *
   * @param accepted accepted ordinals, or null for all
   * @param size number of ordinals
   * @return a copy that nobody changes, or null for all
   */
  static FixedBitSet copy(Bits accepted, int size) {
    if (accepted == null) {
      return null;
    }
    FixedBitSet copy = new FixedBitSet(size);
    copy.set(0, size);
    accepted.applyMask(copy, 0);
    return copy;
  }
}
