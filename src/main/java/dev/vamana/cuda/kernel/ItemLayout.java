package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Item} in native-kernels/include/vamana/types.h, one query over one
 * segment. Fields are named as there; device addresses have 64 bits, other fields 32, in native
 * byte order.
 */
public final class ItemLayout {

  /** Size of the block. */
  public static final int BYTES = 72;

  /** Address of a {@link SegmentLayout}. */
  public static final long SEGMENT = 0;

  /** Address of the query's components, floats or signed bytes, 16-byte aligned. */
  public static final long QUERY = 8;

  /**
   * Address of 64-bit words in which bit o % 64 of word o / 64 is set if ordinal o is accepted; 0
   * to accept all.
   */
  public static final long ACCEPTED = 16;

  /** Address of ordinals from which the walk starts in addition to the medoid. */
  public static final long ENTRY_POINTS = 24;

  /** Address of a {@link ResultLayout} with room for {@code CAPACITY} hits. */
  public static final long RESULT = 32;

  /** Number of entry points. */
  public static final long ENTRY_COUNT = 40;

  /** Most hits. */
  public static final long K = 44;

  /** Capacity of the worklist, k to {@link Limits#MAX_BEAM_WIDTH}. */
  public static final long BEAM = 48;

  /** Nodes expanded in a step, 1 to {@link Limits#MAX_PARENTS}. */
  public static final long PARENTS = 52;

  /**
   * Number of best accepted entries that get exact scores, at least k; -1 for all expanded nodes.
   */
  public static final long RERANK = 56;

  /** As of {@link VisitLimit#of}. */
  public static final long VISIT_LIMIT = 60;

  /** Number of hits that the result has room for. */
  public static final long CAPACITY = 64;

  private ItemLayout() {}
}
