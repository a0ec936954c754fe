package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Convert} in native-kernels/include/vamana/convert.h, the parameter
 * of the kernels that convert float vectors to smaller formats. Fields are named as there;
 * addresses and {@code ROWS} have 64 bits, other fields 32, in native byte order.
 */
public final class ConvertLayout {

  /** Size of the block. */
  public static final int BYTES = 48;

  /** Address of rows of {@code SOURCE_STRIDE} bytes that begin with {@code DIMENSION} floats. */
  public static final long SOURCE = 0;

  /** Address of rows of {@code TARGET_STRIDE} bytes, 16-byte aligned. */
  public static final long TARGET = 8;

  /** Number of rows. */
  public static final long ROWS = 16;

  /** Components of a row. */
  public static final long DIMENSION = 24;

  /** Bytes between source rows, a multiple of 4. */
  public static final long SOURCE_STRIDE = 28;

  /** Bytes between target rows, a multiple of 16. */
  public static final long TARGET_STRIDE = 32;

  /** Factor of a byte, a float above 0. */
  public static final long SCALE = 36;

  /** Value added to a scaled byte, a float. */
  public static final long OFFSET = 40;

  private ConvertLayout() {}
}
