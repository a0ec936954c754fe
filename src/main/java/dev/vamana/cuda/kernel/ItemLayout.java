package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Item} in native-kernels/include/vamana/types.h, one query over one
 * segment. Fields are named as there; device addresses have 64 bits, other fields 32, in native
 * byte order.
 */
public final class ItemLayout {

  /** Size of the block. */
  public static final int BYTES = 72;

  public static final long SEGMENT = 0;
  public static final long QUERY = 8;
  public static final long ACCEPTED = 16;
  public static final long ENTRY_POINTS = 24;
  public static final long RESULT = 32;
  public static final long ENTRY_COUNT = 40;
  public static final long K = 44;
  public static final long BEAM = 48;
  public static final long PARENTS = 52;
  public static final long RERANK = 56;
  public static final long VISIT_LIMIT = 60;
  public static final long CAPACITY = 64;

  private ItemLayout() {}
}
