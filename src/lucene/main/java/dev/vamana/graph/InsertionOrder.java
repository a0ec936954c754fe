package dev.vamana.graph;

/**
 * A fixed permutation of 0 to n - 1 that needs no memory. Its steps are about n divided by the
 * golden ratio, so that every prefix of the order is spread evenly over the ordinals. Documents
 * often arrive sorted by content; if they were inserted in that order, the first nodes would give
 * the graph no long edges.
 */
final class InsertionOrder {

  private static final double GOLDEN_RATIO_INVERSE = 0.6180339887498949;

  private final int size;
  private final long step;
  private final long offset;

  InsertionOrder(int size, long seed) {
    this.size = size;
    this.offset = Math.floorMod(seed, Math.max(1, size));
    long candidate = Math.max(1, (long) (size * GOLDEN_RATIO_INVERSE));
    while (greatestCommonDivisor(candidate, size) != 1) {
      candidate++;
    }
    this.step = candidate;
  }

  int ordinal(int position) {
    return (int) ((offset + position * step) % size);
  }

  private static long greatestCommonDivisor(long a, long b) {
    return b == 0 ? a : greatestCommonDivisor(b, a % b);
  }
}
