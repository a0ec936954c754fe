package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Range} in native-kernels/include/vamana/convert.h, the parameter
 * of the kernel that finds the range of float vectors' components. Fields are named as there;
 * addresses and {@code ROWS} have 64 bits, other fields 32, in native byte order.
 */
public final class RangeLayout {

  /** Size of the block. */
  public static final int BYTES = 32;

  public static final long SOURCE = 0;
  public static final long RESULT = 8;
  public static final long ROWS = 16;
  public static final long DIMENSION = 24;
  public static final long SOURCE_STRIDE = 28;

  private RangeLayout() {}
}
