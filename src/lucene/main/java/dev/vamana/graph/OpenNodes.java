package dev.vamana.graph;

import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.lucene.util.FixedBitSet;

/** The nodes that a pass has still to insert. Each is taken once, by one of several threads. */
final class OpenNodes {

  private final AtomicLongArray taken;

  /**
   * Makes a set.
   *
   * @param left nodes that the pass leaves out
   */
  OpenNodes(FixedBitSet left) {
    this.taken = new AtomicLongArray(left.getBits());
  }

  /** Whether a node is open. */
  boolean has(int node) {
    return (taken.get(node >> 6) & 1L << node) == 0;
  }

  /** Takes a node. Returns whether it was open. */
  boolean take(int node) {
    int word = node >> 6;
    long bit = 1L << node;
    long before = taken.get(word);
    while ((before & bit) == 0) {
      long found = taken.compareAndExchange(word, before, before | bit);
      if (found == before) {
        return true;
      }
      before = found;
    }
    return false;
  }
}
