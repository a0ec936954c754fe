package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::HostFetch} in native-kernels/include/vamana/host_fetch.h, the
 * parameter of {@code host_fetch_begin} and of the kernels of a step. Fields are named as there;
 * addresses and keys have 64 bits, other fields 32, in native byte order.
 */
public final class HostFetchLayout {

  /** Size of the block. */
  public static final int BYTES = 112;

  /** Address of {@link ItemLayout}s by slot. */
  public static final long ITEMS = 0;

  /** Address of {@link FetchStateLayout}s by slot. */
  public static final long STATES = 8;

  /** Address of {@code TABLE_STRIDE} floats per slot. */
  public static final long TABLES = 16;

  /** Address of {@code LIST_CAPACITY} 64-bit keys per slot. */
  public static final long LISTS = 24;

  /** Address of {@code FRESH_CAPACITY} 64-bit keys per slot. */
  public static final long KEYS = 32;

  /** Address of {@code FRESH_CAPACITY} ordinals per slot. */
  public static final long IDS = 40;

  /** Address of {@code VISITED_SLOTS} words per slot, 16-byte aligned. */
  public static final long VISITED = 48;

  /** Address of the slot numbers of this launch. */
  public static final long SLOTS = 56;

  /** Address of {@code COUNT} rows of {@code ROW_STRIDE} ordinals, 16-byte aligned. */
  public static final long ROWS = 64;

  /** Address into which kernels write {@code COUNT} times {@code PARENTS} ordinals. */
  public static final long PICKS = 72;

  /** Number of slots of this launch. */
  public static final long COUNT = 80;

  /** Floats of a table. */
  public static final long TABLE_STRIDE = 84;

  /** Largest beam. */
  public static final long LIST_CAPACITY = 88;

  /** Most new keys of a step, a multiple of 32. */
  public static final long FRESH_CAPACITY = 92;

  /** Words of a visited set, a power of two. */
  public static final long VISITED_SLOTS = 96;

  /** Ordinals of a row, a multiple of 4. */
  public static final long ROW_STRIDE = 100;

  /** Nodes expanded in a step. */
  public static final long PARENTS = 104;

  /** {@link #FLAG_PICK_MERGED} and {@link WalkLayout#FLAG_NO_VISITED_FILTER}. */
  public static final long FLAGS = 108;

  /** Flag: the next parents are picked from the merged worklist, not before new keys are sorted. */
  public static final int FLAG_PICK_MERGED = 4;

  private HostFetchLayout() {}

  /** Returns the dynamic shared memory of {@code host_fetch_begin}. */
  public static int beginSharedBytes(int dimension) {
    return ((dimension + 15) & ~15) * Float.BYTES;
  }

  /**
   * Returns the dynamic shared memory of the fused kernels and of the kernels that sort and merge.
   */
  public static int stepSharedBytes(int freshCapacity) {
    return freshCapacity * (Long.BYTES + Integer.BYTES);
  }
}
