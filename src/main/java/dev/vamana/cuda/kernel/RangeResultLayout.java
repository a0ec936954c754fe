package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::RangeResult} in native-kernels/include/vamana/convert.h. Fields
 * have 32 bits, in native byte order.
 */
public final class RangeResultLayout {

  /** Size of the block. */
  public static final int BYTES = 16;

  public static final long HIGHEST = 0;
  public static final long LOWEST = 4;
  public static final long FLAGS = 8;

  /** Flag: a component is not one of the integers 0 to 255. */
  public static final int FLAG_FRACTIONS = 1;

  /** Flag: a component is infinite or NaN. */
  public static final int FLAG_NOT_FINITE = 2;

  /** Flag: a copy in bytes is not the vector itself. */
  public static final int FLAG_ROUNDED = 4;

  private RangeResultLayout() {}

  /** Returns the float of these sortable bits, which order floats as unsigned integers. */
  public static float unsortable(int bits) {
    return Float.intBitsToFloat(bits ^ (bits < 0 ? 0x80000000 : 0xFFFFFFFF));
  }
}
