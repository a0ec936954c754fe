package dev.vamana.graph;

import java.util.Arrays;
import org.apache.lucene.util.FixedBitSet;

/**
 * The nodes that a search has seen.
 *
 * <p>For a graph of up to {@value #MAX_BITS} nodes it is a bitset, which fits the cache and is
 * cleared quickly. For a larger graph it is an open-addressing hash set, whose size depends on the
 * search rather than on the graph.
 */
public final class VisitedSet {

  private static final int MAX_BITS = 1 << 20;
  private static final int HASH_MULTIPLIER = 0x9E3779B1;

  private final FixedBitSet bits;
  // ordinal + 1, so that a fresh array is an empty table; null when bits are used
  private int[] table;
  private int shift;
  private int size;
  private int growAt;

  /**
   * Makes an empty set.
   *
   * @param nodes number of nodes in the graph
   * @param expected number of nodes that the search is expected to see; more are possible
   */
  public VisitedSet(int nodes, int expected) {
    if (nodes <= MAX_BITS) {
      bits = new FixedBitSet(Math.max(1, nodes));
    } else {
      bits = null;
      long slots = Math.max(64, Math.min(1 << 28, 2L * Math.max(1, expected)));
      allocate(Integer.highestOneBit((int) slots - 1) << 1);
    }
  }

  /** Adds a node. Returns whether it was new. */
  public boolean add(int ordinal) {
    return bits != null ? bits.getAndSet(ordinal) == false : addToTable(ordinal);
  }

  /**
   * Adds nodes.
   *
   * @param ordinals the nodes
   * @param count how many of them
   * @param fresh receives the new nodes in their order, from {@code at} on, and has room for {@code
   *     count} of them; may be the array {@code ordinals} if {@code at} is 0
   * @return how many were new
   */
  public int addAll(int[] ordinals, int count, int[] fresh, int at) {
    int added = at;
    if (bits == null) {
      for (int i = 0; i < count; i++) {
        if (addToTable(ordinals[i])) {
          fresh[added++] = ordinals[i];
        }
      }
      return added - at;
    }
    long[] words = bits.getBits();
    for (int i = 0; i < count; i++) {
      // no branch: whether a node is new cannot be predicted
      int ordinal = ordinals[i];
      long word = words[ordinal >> 6];
      fresh[added] = ordinal;
      added += (int) (~(word >>> ordinal) & 1);
      words[ordinal >> 6] = word | 1L << ordinal;
    }
    return added - at;
  }

  /** Whether a node was added. */
  public boolean contains(int ordinal) {
    return bits != null ? bits.get(ordinal) : table[slot(ordinal + 1)] != 0;
  }

  private boolean addToTable(int ordinal) {
    int stored = ordinal + 1;
    int slot = slot(stored);
    if (table[slot] == stored) {
      return false;
    }
    table[slot] = stored;
    if (++size > growAt) {
      grow();
    }
    return true;
  }

  /** Returns the slot that holds a value, or the free one where it belongs. */
  private int slot(int stored) {
    int mask = table.length - 1;
    int slot = (stored * HASH_MULTIPLIER) >>> shift;
    while (table[slot] != 0 && table[slot] != stored) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Removes all nodes and keeps the memory. */
  public void clear() {
    if (bits != null) {
      bits.clear();
    } else {
      Arrays.fill(table, 0);
      size = 0;
    }
  }

  private void allocate(int slots) {
    table = new int[slots];
    shift = 32 - Integer.numberOfTrailingZeros(slots);
    growAt = slots / 2;
  }

  private void grow() {
    int[] old = table;
    allocate(Math.multiplyExact(old.length, 2));
    for (int stored : old) {
      if (stored != 0) {
        table[slot(stored)] = stored;
      }
    }
  }
}
