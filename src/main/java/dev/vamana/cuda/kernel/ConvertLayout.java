package dev.vamana.cuda.kernel;

/**
 * {@code vamana::Convert} of native-kernels/include/vamana/convert.h, the parameter of the kernels
 * that make copies of float vectors in smaller formats: byte offsets of its fields, each named as
 * there. Addresses and {@code ROWS} are 64 bits wide, other fields 32, in native byte order.
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

  /** Bytes from one source row to the next, a multiple of 4. */
  public static final long SOURCE_STRIDE = 28;

  /** Bytes from one target row to the next, a multiple of 16. */
  public static final long TARGET_STRIDE = 32;

  /** Factor of a byte, a float above 0. */
  public static final long SCALE = 36;

  /** What is added to a scaled byte, a float. */
  public static final long OFFSET = 40;

  private ConvertLayout() {}
}
