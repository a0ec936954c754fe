package dev.vamana.cuda.kernel;

/**
 * {@code vamana::ExactFacts} of native-kernels/include/vamana/exact_scan.h: byte offsets of its
 * fields, each named as there and 32 bits wide.
 */
public final class ExactFactsLayout {

  /** Size of the block. */
  public static final int BYTES = 16;

  /** The largest norm of a row, a float. */
  public static final long LARGEST_NORM = 0;

  /** {@link RangeResultLayout#FLAG_FRACTIONS} and {@link RangeResultLayout#FLAG_NOT_FINITE}. */
  public static final long FLAGS = 4;

  /** Accepted rows that have no products. */
  public static final long SKIPPED = 8;

  private ExactFactsLayout() {}
}
