package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::ExactFacts} in native-kernels/include/vamana/exact_scan.h. Fields
 * are named as there and have 32 bits.
 */
public final class ExactFactsLayout {

  /** Size of the block. */
  public static final int BYTES = 16;

  public static final long LARGEST_NORM = 0;
  public static final long FLAGS = 4;
  public static final long SKIPPED = 8;

  private ExactFactsLayout() {}
}
