package dev.vamana.graph;

import java.util.Arrays;

/**
 * The nodes that a search has seen: an open-addressing hash set of ordinals that grows with the search, not with the
 * graph.
 */
public final class VisitedSet {

  private static final int HASH_MULTIPLIER = 0x9E3779B1;

  // ordinal + 1, so that a fresh array is an empty table
  private int[] table;
  private int shift;
  private int size;
  private int growAt;

  /**
   * @param expected how many nodes the search is expected to see; more are fine
   */
  public VisitedSet(int expected) {
    long slots = Math.max(64, Math.min(1 << 28, 2L * Math.max(1, expected)));
    allocate(Integer.highestOneBit((int) slots - 1) << 1);
  }

  /** Adds a node; returns whether it was not there before. */
  public boolean add(int ordinal) {
    int stored = ordinal + 1;
    int mask = table.length - 1;
    int slot = (stored * HASH_MULTIPLIER) >>> shift;
    while (true) {
      int found = table[slot];
      if (found == 0) {
        table[slot] = stored;
        if (++size > growAt) {
          grow();
        }
        return true;
      }
      if (found == stored) {
        return false;
      }
      slot = (slot + 1) & mask;
    }
  }

  /** Number of nodes in the set. */
  public int size() {
    return size;
  }

  /** Forgets all nodes; keeps the memory. */
  public void clear() {
    Arrays.fill(table, 0);
    size = 0;
  }

  private void allocate(int slots) {
    table = new int[slots];
    shift = 32 - Integer.numberOfTrailingZeros(slots);
    growAt = slots / 2;
  }

  private void grow() {
    int[] old = table;
    allocate(Math.multiplyExact(old.length, 2));
    int mask = table.length - 1;
    for (int stored : old) {
      if (stored != 0) {
        int slot = (stored * HASH_MULTIPLIER) >>> shift;
        while (table[slot] != 0) {
          slot = (slot + 1) & mask;
        }
        table[slot] = stored;
      }
    }
  }
}
