package dev.vamana.cuda.select;

import java.util.List;

/**
 * A selection algorithm with its parameters. {@link #of(int, int, int)} chooses one.
 *
 * @param family the algorithm
 * @param size pairs of the list of {@code BITS}, one of {@link #LISTS}; 0 for others
 * @param partitions blocks that share a row; 1 for {@code RADIX}
 */
public record SelectMethod(Family family, int size, int partitions) {

  /** Lengths of lists for which there is a kernel {@code select_bits_<length>}. */
  static final List<Integer> LISTS = List.of(512, 1_024, 2_048, 4_096);

  /** Largest k of {@code BITS}. */
  public static final int MAX_SHORT_K = 2_048;

  /** Least number of keys in a row for Sample Select. */
  public static final int SAMPLE = 4_096;

  // blocks that fill the device, and blocks of Sample Select, whose parts of a row differ in work
  private static final int BLOCKS = 264;
  private static final int BLOCKS_OF_SAMPLE = 8 * BLOCKS;
  // from this size on, some rows are sampled for fewer hits, too
  private static final int SAMPLED_K = 512;
  private static final int SAMPLED_N = 1 << 19;
  private static final int SAMPLED_ROWS = 256;

  /** The algorithms; docs/internals/selection.md describes them. */
  public enum Family {
    BITS,
    SAMPLE,
    RADIX
  }

  /**
   * Returns a method that is fast for some rows. The rule follows measurements on an H200
   * (docs/internals/selection.md).
   *
   * @param n keys of a row
   * @param k results of a row
   */
  static SelectMethod of(int rows, int n, int k) {
    int parts = Math.min(BLOCKS, n / SAMPLE);
    boolean many = k > MAX_SHORT_K;
    boolean some = rows > 1 && rows <= SAMPLED_ROWS && k >= SAMPLED_K && n >= SAMPLED_N;
    if (many || some) {
      return n >= 4 * SAMPLE && k < n
          ? new SelectMethod(
              Family.SAMPLE, 0, Math.max(1, Math.min(BLOCKS_OF_SAMPLE / rows, parts)))
          : new SelectMethod(Family.RADIX, 0, 1);
    }
    return new SelectMethod(
        Family.BITS,
        k <= 128 ? 1_024 : k <= 512 ? 2_048 : 4_096,
        Math.max(1, Math.min(BLOCKS / rows, parts)));
  }

  /** Whether this method can select {@code k} of rows of {@code n} keys. */
  public boolean accepts(int n, int k) {
    return switch (family) {
      case BITS -> k <= Math.min(size / 2, MAX_SHORT_K);
      case SAMPLE -> n >= SAMPLE && k < n;
      case RADIX -> true;
    };
  }
}
