package dev.vamana.cuda.kernel;

/**
 * {@code vamana::RangeResult} of native-kernels/include/vamana/convert.h: byte offsets of its
 * fields, 32 bits wide, in native byte order.
 */
public final class RangeResultLayout {

  /** Size of the block. */
  public static final int BYTES = 16;

  /** Sortable bits of the largest finite component; 0 if none was seen. */
  public static final long HIGHEST = 0;

  /** Complement of the sortable bits of the smallest finite component; 0 if none was seen. */
  public static final long LOWEST = 4;

  /** The {@code FLAG} constants that hold. */
  public static final long FLAGS = 8;

  /** A component is not one of the integers 0 to 255. */
  public static final int FLAG_FRACTIONS = 1;

  /** A component is infinite or not a number. */
  public static final int FLAG_NOT_FINITE = 2;

  private RangeResultLayout() {}

  /** The float whose bits, made sortable as unsigned integers, are these. */
  public static float unsortable(int bits) {
    return Float.intBitsToFloat(bits ^ (bits < 0 ? 0x80000000 : 0xFFFFFFFF));
  }
}
