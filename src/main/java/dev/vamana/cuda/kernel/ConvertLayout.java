package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Convert} in native-kernels/include/vamana/convert.h, the parameter
 * of the kernels that convert float vectors to smaller formats. Fields are named as there;
 * addresses and {@code ROWS} have 64 bits, other fields 32, in native byte order.
 */
public final class ConvertLayout {

  /** Size of the block. */
  public static final int BYTES = 64;

  public static final long SOURCE = 0;
  public static final long TARGET = 8;
  public static final long ROWS = 16;
  public static final long DIMENSION = 24;
  public static final long SOURCE_STRIDE = 28;
  public static final long TARGET_STRIDE = 32;
  public static final long UNIT = 36;
  public static final long CENTER = 40;
  public static final long FACTS = 48;
  public static final long RESULT = 56;

  private ConvertLayout() {}
}
