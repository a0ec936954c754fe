package dev.vamana.cuda.kernel;

/**
 * {@code vamana::FetchState} of native-kernels/include/vamana/host_fetch.h, state of one query
 * between the kernels of a step, in device memory: byte offsets of its fields, each named as there.
 * Addresses and keys are 64 bits wide, other fields 32, in native byte order.
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

  /** Vectors of the segment. */
  public static final long SIZE = 24;

  /** Bytes from one code to the next. */
  public static final long CODE_STRIDE = 28;

  /** Subspaces of a code. */
  public static final long SUBSPACES = 32;

  /** Capacity of the worklist. */
  public static final long BEAM = 36;

  /** Most distances of the walk. */
  public static final long VISIT_LIMIT = 40;

  /** Nodes that got a distance. */
  public static final long VISITED = 44;

  /** Steps of the walk. */
  public static final long ITERATIONS = 48;

  /** Entries of the worklist. */
  public static final long LIST_SIZE = 52;

  /** No entry before it is unexpanded. */
  public static final long CURSOR = 56;

  /** New ordinals, later keys, of the step. */
  public static final long FRESH_COUNT = 60;

  /** {@link ResultLayout} flags and {@link #FLAG_STOPPED}; any of them ends the walk. */
  public static final long FLAGS = 64;

  /** Parents whose rows are being fetched. */
  public static final long PICKED = 68;

  /** The visit limit ended the walk. */
  public static final int FLAG_STOPPED = 16;

  private FetchStateLayout() {}
}
