package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::FetchRerank} in native-kernels/include/vamana/host_fetch.h, the
 * parameter of {@code host_fetch_rerank}. Fields are named as there; addresses have 64 bits, other
 * fields 32, in native byte order.
 */
public final class FetchRerankLayout {

  /** Size of the block. */
  public static final int BYTES = 56;

  public static final long ITEMS = 0;
  public static final long GROUPS = 8;
  public static final long ORDINALS = 16;
  public static final long ROWS = 24;
  public static final long VECTORS = 32;
  public static final long COUNT = 40;
  public static final long VECTOR_STRIDE = 44;
  public static final long LIST_CAPACITY = 48;
  public static final long DIMENSION = 52;

  private FetchRerankLayout() {}
}
