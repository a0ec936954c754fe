package dev.vamana.graph;

import java.util.Arrays;
import org.apache.lucene.util.NumericUtils;

/**
 * The best nodes seen by a greedy search, nearest first, each with a mark that is set when it has
 * been expanded (the worklist L of the BANG paper, section 3).
 *
 * <p>Entries are ordered by distance, then by lower ordinal, so that a walk is the same on every
 * machine that computes the same distances. An entry is one long: the sortable bits of the
 * distance, then the ordinal, then the expanded mark in the lowest bit.
 */
public final class Worklist {

  private static final long EXPANDED = 1L;

  private final long[] entries;
  private final int capacity;
  private int size;
  private int cursor;

  /**
   * Makes an empty list.
   *
   * @param capacity the beam width: number of nearest nodes that are kept, at least 1
   */
  public Worklist(int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity must be at least 1, got " + capacity);
    }
    this.capacity = capacity;
    this.entries = new long[capacity];
  }

  /** Removes all entries. */
  public void clear() {
    size = 0;
    cursor = 0;
  }

  /** Returns the number of entries, at most the capacity. */
  public int size() {
    return size;
  }

  /** Whether every further entry drops another. */
  public boolean isFull() {
    return size == capacity;
  }

  /**
   * Inserts a node that is not in the list yet. If the list is full, its farthest entry is dropped.
   *
   * @return whether the node is now in the list
   */
  public boolean insert(int ordinal, float distance) {
    long entry = encode(ordinal, distance);
    if (size == capacity) {
      if (entry >= (entries[size - 1] & ~EXPANDED)) {
        return false;
      }
      size--;
    }
    int at = Arrays.binarySearch(entries, 0, size, entry);
    at = at < 0 ? -1 - at : at;
    System.arraycopy(entries, at, entries, at + 1, size - at);
    entries[at] = entry;
    size++;
    cursor = Math.min(cursor, at);
    return true;
  }

  /**
   * Marks the nearest unexpanded entry as expanded.
   *
   * @return its ordinal, or -1 if every entry has been expanded
   */
  public int expandNext() {
    return expandNext(capacity);
  }

  /**
   * Marks the nearest unexpanded entry as expanded, if it is among the nearest entries.
   *
   * @param nearest how many of the nearest entries may be expanded
   * @return its ordinal, or -1 if all of the {@code nearest} entries have been expanded
   */
  int expandNext(int nearest) {
    int end = Math.min(nearest, size);
    while (cursor < end) {
      long entry = entries[cursor];
      if ((entry & EXPANDED) == 0) {
        entries[cursor] = entry | EXPANDED;
        cursor++;
        return ordinalOf(entry);
      }
      cursor++;
    }
    return -1;
  }

  /** Returns the ordinal of the entry with this rank; rank 0 is the nearest. */
  public int ordinal(int rank) {
    return ordinalOf(entries[rank]);
  }

  /** Returns the distance of the entry with this rank. */
  public float distance(int rank) {
    return NumericUtils.sortableIntToFloat((int) (entries[rank] >> 32));
  }

  private static int ordinalOf(long entry) {
    return (int) ((entry & 0xFFFFFFFFL) >>> 1);
  }

  private static long encode(int ordinal, float distance) {
    return ((long) NumericUtils.floatToSortableInt(distance) << 32) | ((long) ordinal << 1);
  }
}
