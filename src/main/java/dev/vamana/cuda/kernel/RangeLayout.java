package dev.vamana.cuda.kernel;

/**
 * {@code vamana::Range} of native-kernels/include/vamana/convert.h, the parameter of the kernel
 * that finds the range of float vectors' components: byte offsets of its fields, each named as
 * there. Addresses and {@code ROWS} are 64 bits wide, other fields 32, in native byte order.
 */
public final class RangeLayout {

  /** Size of the block. */
  public static final int BYTES = 32;

  /** Address of rows of {@code SOURCE_STRIDE} bytes that begin with {@code DIMENSION} floats. */
  public static final long SOURCE = 0;

  /** Address of a {@link RangeResultLayout}, all zero before the first launch. */
  public static final long RESULT = 8;

  /** Number of rows. */
  public static final long ROWS = 16;

  /** Components of a row. */
  public static final long DIMENSION = 24;

  /** Bytes from one row to the next, a multiple of 4. */
  public static final long SOURCE_STRIDE = 28;

  private RangeLayout() {}
}
