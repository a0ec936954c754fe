package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::ExactBlock} in native-kernels/include/vamana/exact_scan.h: what a
 * block does in a launch of many scans. Fields are named as there and have 32 bits.
 */
public final class ExactBlockLayout {

  /** Size of the block. */
  public static final int BYTES = 16;

  public static final long SCAN = 0;
  public static final long PART = 4;
  public static final long PARTS = 8;

  private ExactBlockLayout() {}
}
