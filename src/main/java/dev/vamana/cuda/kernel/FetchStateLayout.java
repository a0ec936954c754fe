package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::FetchState} in native-kernels/include/vamana/host_fetch.h, the
 * state of one query between the kernels of a step, in device memory. Fields are named as there;
 * addresses and keys have 64 bits, other fields 32, in native byte order.
 */
public final class FetchStateLayout {

  /** Size of the block. */
  public static final int BYTES = 72;

  /** Device address of a {@link SegmentLayout}. */
  public static final long SEGMENT = 0;

  /** Address of the segment's codes. */
  public static final long CODES = 8;

  /** Worklist key of the parent whose row is being fetched; all ones for none. */
  public static final long PICK_KEY = 16;

  /** Number of vectors of the segment. */
  public static final long SIZE = 24;

  /** Bytes between codes. */
  public static final long CODE_STRIDE = 28;

  /** Subspaces of a code. */
  public static final long SUBSPACES = 32;

  /** Capacity of the worklist. */
  public static final long BEAM = 36;

  /** Visit limit of the walk. */
  public static final long VISIT_LIMIT = 40;

  /** Number of nodes whose distance was computed. */
  public static final long VISITED = 44;

  /** Steps of the walk. */
  public static final long ITERATIONS = 48;

  /** Entries of the worklist. */
  public static final long LIST_SIZE = 52;

  /** All entries before this position have been expanded. */
  public static final long CURSOR = 56;

  /** Number of new ordinals, later keys, of the step. */
  public static final long FRESH_COUNT = 60;

  /** {@link ResultLayout} flags and {@link #FLAG_STOPPED}. Any of them ends the walk. */
  public static final long FLAGS = 64;

  /** Number of parents whose rows are being fetched. */
  public static final long PICKED = 68;

  /** Flag: the visit limit ended the walk. */
  public static final int FLAG_STOPPED = 16;

  private FetchStateLayout() {}
}
