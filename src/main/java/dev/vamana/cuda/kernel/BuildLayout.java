package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Build} in native-kernels/include/vamana/build.h, the parameter of
 * the kernels that build graphs. Fields are named as there; addresses have 64 bits, other fields
 * 32, in native byte order.
 */
public final class BuildLayout {

  /** Size of the block. */
  public static final int BYTES = 152;

  /** Address of the {@link SegmentLayout} that the walks read. */
  public static final long SEGMENT = 0;

  /** Address of {@code SIZE} rows of {@code VECTOR_STRIDE} bytes, {@code DIMENSION} floats each. */
  public static final long VECTORS = 8;

  /** Address of {@code SIZE} rows of {@code GRAPH_STRIDE} ordinals; unused slots hold -1. */
  public static final long GRAPH = 16;

  /** Address of the ordinals of the batch; 0 if they are {@code FIRST} and those behind it. */
  public static final long NODES = 24;

  /** Address of the results of the walks; 0 if there were none. */
  public static final long FOUND = 32;

  /** Address of {@code COUNT} {@link ItemLayout}s. */
  public static final long ITEMS = 40;

  /** Address of {@code COUNT} addresses of them. */
  public static final long ADDRESSES = 48;

  /**
   * Address of {@link BuildSizes#COUNTER_BYTES} bytes of counters; the first is the counter of the
   * walks.
   */
  public static final long COUNTERS = 56;

  /** Address of a 32-bit number for each node, 0 before and after a batch. */
  public static final long ARRIVALS = 64;

  /** Address of a 32-bit number for each node. */
  public static final long STARTS = 72;

  /** Address of {@code COUNT * MAX_DEGREE} runs of {@link BuildSizes#RUN_BYTES} bytes. */
  public static final long RUNS = 80;

  /** Address of {@code COUNT * MAX_DEGREE} ordinals. */
  public static final long SOURCES = 88;

  /**
   * Address of a float for each node: one divided by the norm of its vector, 0 for the zero vector.
   * Read by the kernels for inner products.
   */
  public static final long INVERSE_NORMS = 96;

  /** First ordinal of the batch if {@code NODES} is 0. */
  public static final long FIRST = 104;

  /** Number of nodes of the batch. */
  public static final long COUNT = 108;

  /** Number of nodes of the graph. */
  public static final long SIZE = 112;

  /** Components of a vector. */
  public static final long DIMENSION = 116;

  /** Bytes between vectors, a multiple of 16. */
  public static final long VECTOR_STRIDE = 120;

  /** Slots of a row, a multiple of 4, at most {@link Limits#MAX_DEGREE}. */
  public static final long GRAPH_STRIDE = 124;

  /** Most neighbours that a prune keeps. */
  public static final long MAX_DEGREE = 128;

  /** Neighbours of a row beyond which it is pruned. */
  public static final long SLOTS = 132;

  /** Worklist capacity and number of hits of the walks. */
  public static final long BEAM = 136;

  /** Nodes that a walk expands in a step. */
  public static final long PARENTS = 140;

  /** Candidates that a block has room for. */
  public static final long CANDIDATES = 144;

  /** Factor of robust prune, a float. */
  public static final long ALPHA = 148;

  private BuildLayout() {}
}
