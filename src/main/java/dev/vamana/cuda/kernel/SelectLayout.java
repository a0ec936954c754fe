package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::select::Select} in native-kernels/include/vamana/select/select.h,
 * the parameter of the selection kernels. Fields are named as there; addresses have 64 bits, other
 * fields 32, in native byte order.
 */
public final class SelectLayout {

  /** Size of the block. */
  public static final int BYTES = 72;

  public static final long KEYS = 0;
  public static final long OUT_KEYS = 8;
  public static final long OUT_IDS = 16;
  public static final long SCRATCH = 24;
  public static final long ROWS = 32;
  public static final long N = 36;
  public static final long STRIDE = 40;
  public static final long K = 44;
  public static final long PARTITIONS = 48;
  public static final long MARGIN = 52;
  public static final long CAPACITY = 56;
  public static final long RUN = 60;
  public static final long ARRAY = 64;

  private SelectLayout() {}
}
