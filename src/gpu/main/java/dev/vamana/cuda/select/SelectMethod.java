package dev.vamana.cuda.select;

import java.util.List;

/**
 * A selection algorithm with its parameters; docs/internals/selection.md describes both. {@link
 * #of(int, int, int)} chooses one.
 *
 * @param size pairs of the list of {@code bits}, one of {@link #LISTS}; 0 for {@code radix}
 * @param partitions blocks that share a row; 1 for {@code radix}
 */
public record SelectMethod(int size, int partitions) {

  /** Lengths of lists for which there is a kernel {@code select_bits_<length>}. */
  static final List<Integer> LISTS = List.of(1_024, 2_048, 4_096);

  /** Radix Select, of any k. */
  static final SelectMethod RADIX = new SelectMethod(0, 1);

  /** Largest k of {@code bits}. */
  public static final int MAX_SHORT_K = 2_048;

  // blocks that fill the device, and least number of keys for each
  private static final int BLOCKS = 264;
  private static final int PART = 4_096;

  /**
   * Returns a method that is fast for some rows. The rule follows measurements on an H200
   * (docs/internals/selection.md).
   *
   * @param n keys of a row
   * @param k results of a row
   */
  static SelectMethod of(int rows, int n, int k) {
    return k > MAX_SHORT_K
        ? RADIX
        : new SelectMethod(
            k <= 128 ? 1_024 : k <= 512 ? 2_048 : 4_096,
            Math.max(1, Math.min(BLOCKS / rows, n / PART)));
  }

  /** Whether this method can select {@code k}. */
  public boolean accepts(int k) {
    return size == 0 || k <= size / 2;
  }
}
