package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Convert} in native-kernels/include/vamana/convert.h, the parameter
 * of the kernels that convert float vectors to smaller formats. Fields are named as there;
 * addresses and {@code ROWS} have 64 bits, other fields 32, in native byte order.
 */
public final class ConvertLayout {

  /** Size of the block. */
  public static final int BYTES = 64;

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

  /** Copies in bytes: 1 if rows are made of length 1 first. */
  public static final long UNIT = 36;

  /** Copies in bytes: address of {@code DIMENSION} floats, which components are less. */
  public static final long CENTER = 40;

  /**
   * Copies in bytes: address of two floats for each row: the step of its components, and the
   * squared length of its bytes in such steps.
   */
  public static final long FACTS = 48;

  /** Copies in bytes: address of a {@link RangeResultLayout}, of which only flags are set. */
  public static final long RESULT = 56;

  private ConvertLayout() {}
}
