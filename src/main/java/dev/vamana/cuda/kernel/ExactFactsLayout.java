package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::ExactFacts} in native-kernels/include/vamana/exact_scan.h. Fields
 * are named as there and have 32 bits.
 */
public final class ExactFactsLayout {

  /** Size of the block. */
  public static final int BYTES = 16;

  /** Largest norm of a row, a float. */
  public static final long LARGEST_NORM = 0;

  /** {@link RangeResultLayout#FLAG_FRACTIONS} and {@link RangeResultLayout#FLAG_NOT_FINITE}. */
  public static final long FLAGS = 4;

  /** Number of accepted rows without products. */
  public static final long SKIPPED = 8;

  private ExactFactsLayout() {}
}
