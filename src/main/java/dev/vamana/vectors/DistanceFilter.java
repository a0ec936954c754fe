package dev.vamana.vectors;

import java.io.IOException;

/** Leaves out vectors that are probably too far from a query. For one query on one thread. */
public interface DistanceFilter {

  /**
   * Keeps the ordinals whose score may be at least a bound, in their order.
   *
   * @param ordinals candidates; the kept ones come first afterwards
   * @param count number of candidates
   * @param leftOut receives the other ordinals, from {@code at} on; has room for {@code count}
   * @param worst the lowest score that matters
   * @return the number of kept ordinals
   */
  int keep(int[] ordinals, int count, int[] leftOut, int at, float worst) throws IOException;

  /**
   * Sorts what the last call of {@link #keep} has kept, nearest first, by estimates.
   *
   * @param ordinals the kept ordinals
   * @param count how many there are
   */
  default void sort(int[] ordinals, int count) {}

  /**
   * Returns how many of the {@linkplain #sort sorted} ordinals may have at least a score: the first
   * ones.
   *
   * @param count how many there are
   * @param worst the lowest score that matters now
   */
  default int within(int count, float worst) {
    return count;
  }
}
