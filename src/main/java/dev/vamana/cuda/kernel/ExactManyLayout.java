package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::ExactMany} in native-kernels/include/vamana/exact_scan.h, the
 * parameter of kernels that make many scans in one launch. Fields are named as there.
 */
public final class ExactManyLayout {

  /** Size of the block. */
  public static final int BYTES = 24;

  public static final long SCANS = 0;
  public static final long BLOCKS = 8;
  public static final long COUNT = 16;

  private ExactManyLayout() {}
}
