package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::ListSearch} in native-kernels/include/vamana/lists.h, the
 * parameter of the kernels that search inverted lists. Fields are named as there; addresses and
 * {@code SCRATCH_STRIDE} have 64 bits, other fields 32, in native byte order.
 */
public final class ListSearchLayout {

  /** Size of the block. */
  public static final int BYTES = 72;

  /** As {@link WalkLayout#ITEMS}. */
  public static final long ITEMS = 0;

  /** As {@link WalkLayout#COUNTER}. */
  public static final long COUNTER = 8;

  /** Address of {@code SCRATCH_STRIDE} bytes per block. */
  public static final long SCRATCH = 16;

  /** Bytes of scratch of one block. */
  public static final long SCRATCH_STRIDE = 24;

  /** Number of items. */
  public static final long COUNT = 32;

  /** Largest width of the items. */
  public static final long WIDTH = 36;

  /** Most lists of the items. */
  public static final long LISTS = 40;

  /** Largest number of components of a rotated vector. */
  public static final long PADDED = 44;

  /** Largest dimension of the items. */
  public static final long DIMENSION = 48;

  /** Most subspaces of the items' codes; 0 without product quantization. */
  public static final long SUBSPACES = 52;

  /** {@link WalkLayout#FLAG_SIDE_BY_SIDE} or 0. */
  public static final long FLAGS = 56;

  /** Blocks that search one item, 1 to {@link Tuning#MOST_TEAM}; several only in waves. */
  public static final long TEAM = 60;

  /**
   * With several blocks for one item: address of {@link ListMemory#TEAM_BYTES} bytes for each item,
   * all zero, which the kernel leaves as they were. There are as many blocks as {@code COUNT} times
   * {@code TEAM}.
   */
  public static final long TEAMS = 64;

  private ListSearchLayout() {}
}
