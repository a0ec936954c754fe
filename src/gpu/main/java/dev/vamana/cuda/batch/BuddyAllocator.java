package dev.vamana.cuda.batch;

import java.util.Arrays;

/**
 * Allocates blocks of power-of-two sizes from a range of offsets, with the buddy method. It
 * computes offsets only; the caller owns the memory. Thread-safe. {@link StagingPool} divides its
 * memory with it.
 */
final class BuddyAllocator {

  private static final int NONE = -1;
  private static final byte INSIDE = -1;

  private final int unitBits;
  private final int units;
  private final int[] heads;
  private final int[] next;
  private final int[] previous;
  // for the first unit of a block: its order, plus FREE if the block is free; for other units
  // INSIDE
  private final byte[] orders;
  private static final byte FREE = 64;
  private long used;

  /**
   * Makes an allocator of a free range.
   *
   * @param bytes size of the range; a remainder smaller than a unit is not used
   * @param unit size of the smallest block, a power of two
   */
  BuddyAllocator(long bytes, int unit) {
    this.unitBits = Integer.numberOfTrailingZeros(unit);
    this.units = Math.toIntExact(bytes >>> unitBits);
    this.next = new int[units];
    this.previous = new int[units];
    this.orders = new byte[units];
    this.heads = new int[32];
    Arrays.fill(heads, NONE);
    Arrays.fill(orders, INSIDE);
    int at = 0;
    while (at < units) {
      int order = 31 - Integer.numberOfLeadingZeros(units - at);
      if (at > 0) {
        order = Math.min(order, Integer.numberOfTrailingZeros(at));
      }
      link(at, order);
      at += 1 << order;
    }
  }

  /**
   * Returns the offset of a block of at least {@code bytes} bytes, or -1 if no block is large
   * enough.
   */
  synchronized long allocate(long bytes) {
    long wanted = Math.max(1, (bytes + (1L << unitBits) - 1) >>> unitBits);
    if (wanted > units) {
      return NONE;
    }
    int order = wanted == 1 ? 0 : 32 - Integer.numberOfLeadingZeros((int) wanted - 1);
    int found = order;
    while (found < heads.length && heads[found] == NONE) {
      found++;
    }
    if (found == heads.length) {
      return NONE;
    }
    int block = heads[found];
    unlink(block, found);
    while (found > order) {
      found--;
      link(block + (1 << found), found);
    }
    orders[block] = (byte) order;
    used += 1L << order << unitBits;
    return (long) block << unitBits;
  }

  /** Frees a block that {@link #allocate} returned. */
  synchronized void free(long offset) {
    int block = (int) (offset >>> unitBits);
    int order = orders[block];
    if (order == INSIDE || order >= FREE) {
      throw new IllegalStateException("no block is at " + offset);
    }
    used -= 1L << order << unitBits;
    while (true) {
      int buddy = block ^ (1 << order);
      if (buddy + (1 << order) > units || orders[buddy] != FREE + order) {
        break;
      }
      unlink(buddy, order);
      orders[Math.max(block, buddy)] = INSIDE;
      block = Math.min(block, buddy);
      order++;
    }
    link(block, order);
  }

  /** Returns the bytes of the largest free block, or 0. */
  synchronized long largest() {
    int order = heads.length - 1;
    while (order >= 0 && heads[order] == NONE) {
      order--;
    }
    return order < 0 ? 0 : 1L << order << unitBits;
  }

  /** Returns the bytes in allocated blocks. */
  synchronized long used() {
    return used;
  }

  private void link(int block, int order) {
    orders[block] = (byte) (FREE + order);
    previous[block] = NONE;
    next[block] = heads[order];
    if (heads[order] != NONE) {
      previous[heads[order]] = block;
    }
    heads[order] = block;
  }

  private void unlink(int block, int order) {
    if (previous[block] == NONE) {
      heads[order] = next[block];
    } else {
      next[previous[block]] = next[block];
    }
    if (next[block] != NONE) {
      previous[next[block]] = previous[block];
    }
    orders[block] = INSIDE;
  }
}
