package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::FetchRerank} in native-kernels/include/vamana/host_fetch.h, the
 * parameter of {@code host_fetch_rerank}. Fields are named as there; addresses have 64 bits, other
 * fields 32, in native byte order.
 */
public final class FetchRerankLayout {

  /** Size of the block. */
  public static final int BYTES = 56;

  /** Address of {@link ItemLayout}s by slot. */
  public static final long ITEMS = 0;

  /** Address of {@code COUNT} {@link FetchGroupLayout}s. */
  public static final long GROUPS = 8;

  /** Address of the candidates' ordinals. */
  public static final long ORDINALS = 16;

  /** Address of each candidate's row in {@code VECTORS}. */
  public static final long ROWS = 24;

  /** Address of rows of {@code VECTOR_STRIDE} bytes, 16-byte aligned. */
  public static final long VECTORS = 32;

  /** Number of groups. */
  public static final long COUNT = 40;

  /** Bytes between vectors, a multiple of 16. */
  public static final long VECTOR_STRIDE = 44;

  /** Largest k. */
  public static final long LIST_CAPACITY = 48;

  /** Components of a vector. */
  public static final long DIMENSION = 52;

  /** Candidates scored in one pass. */
  private static final int PASS = 32;

  private FetchRerankLayout() {}

  /** Returns the dynamic shared memory of the kernel. */
  public static int sharedBytes(int listCapacity, int dimension) {
    return ((listCapacity * Long.BYTES + 15) & ~15)
        + PASS * 16
        + HostFetchLayout.beginSharedBytes(dimension);
  }
}
