package dev.vamana.graph;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.apache.lucene.util.FixedBitSet;

/**
 * The nodes that a pass inserts, in the order of their insertion. They are found one after the
 * other and never all in memory. For one thread.
 */
public final class NodeOrder {

  private final InsertionOrder order;
  private final FixedBitSet left;
  private final int without;
  private final int count;
  private int position;

  /**
   * Makes an order.
   *
   * @param left nodes that are left out, or null
   * @param without a further node that is left out, or -1
   */
  NodeOrder(int size, long seed, FixedBitSet left, int without) {
    this.order = new InsertionOrder(size, seed);
    this.left = left;
    this.without = without;
    int fewer = left == null ? 0 : left.cardinality();
    if (without >= 0 && (left == null || left.get(without) == false)) {
      fewer++;
    }
    this.count = size - fewer;
  }

  /** Returns the number of nodes. */
  public int count() {
    return count;
  }

  /**
   * Writes the next nodes.
   *
   * @param target receives their ordinals, 4 bytes each in native order
   * @param nodes how many; all calls together at most {@link #count}
   */
  public void read(MemorySegment target, int nodes) {
    for (int i = 0; i < nodes; position++) {
      int node = order.ordinal(position);
      if (node != without && (left == null || left.get(node) == false)) {
        target.set(ValueLayout.JAVA_INT, (long) i * Integer.BYTES, node);
        i++;
      }
    }
  }
}
