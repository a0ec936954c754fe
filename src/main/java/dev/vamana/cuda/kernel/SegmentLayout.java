package dev.vamana.cuda.kernel;

/**
 * {@code vamana::Segment} of native-kernels/include/vamana/types.h: byte offsets of its fields,
 * each named as there. Addresses are 64 bits wide, floats and other fields 32, in native byte
 * order.
 */
public final class SegmentLayout {

  /** Size of the block. */
  public static final int BYTES = 112;

  /** Address of {@code SIZE} rows of {@code GRAPH_STRIDE} ordinals, 16-byte aligned. */
  public static final long GRAPH = 0;

  /** Address of what exact walks read, rows of {@code VECTOR_STRIDE} bytes; or 0. */
  public static final long VECTORS = 8;

  /** Address of what re-ranking reads, rows of {@code RAW_STRIDE} bytes; or 0. */
  public static final long RAW = 16;

  /** Address of the codes, rows of {@code CODE_STRIDE} bytes, 16-byte aligned; or 0. */
  public static final long CODES = 24;

  /** Address of the codebook, component d of centroid c at float d * 256 + c; or 0. */
  public static final long COLUMNS = 32;

  /** Address of the largest norm of a centroid of each subspace, floats; or 0. */
  public static final long CENTROID_NORMS = 40;

  /** Number of vectors. */
  public static final long SIZE = 48;

  /** Components of a vector, 1 to {@link Limits#MAX_DIMENSION}. */
  public static final long DIMENSION = 52;

  /** Slots of an adjacency row, a multiple of 4, at most {@link Limits#MAX_DEGREE}. */
  public static final long GRAPH_STRIDE = 56;

  /** Ordinal that walks start from. */
  public static final long MEDOID = 60;

  /** Bytes from one row of {@code VECTORS} to the next, a multiple of 16. */
  public static final long VECTOR_STRIDE = 64;

  /** Bytes from one row of {@code RAW} to the next. */
  public static final long RAW_STRIDE = 68;

  /** Bytes from one row of {@code CODES} to the next, a multiple of 16. */
  public static final long CODE_STRIDE = 72;

  /** Subspaces of a code, 1 to {@link Limits#MAX_SUBSPACES}; 0 without codes. */
  public static final long SUBSPACES = 76;

  /** Ordinal of Lucene's {@code VectorSimilarityFunction}. */
  public static final long SIMILARITY = 80;

  /** How {@code VECTORS} are stored, one of the {@code FORMAT} constants. */
  public static final long VECTOR_FORMAT = 84;

  /** How {@code RAW} is stored, {@link #FORMAT_FLOAT32} or {@link #FORMAT_BYTE}. */
  public static final long RAW_FORMAT = 88;

  /** 1 if the segment's encoding is BYTE, else 0. */
  public static final long BYTE_SCORING = 92;

  /** Factor of a one-byte component in {@code VECTORS}, a float. */
  public static final long VECTOR_SCALE = 96;

  /** What is added to a scaled one-byte component, a float. */
  public static final long VECTOR_OFFSET = 100;

  /** Bits of a one-byte component that are flipped before it is scaled: 0 or 0x80. */
  public static final long VECTOR_FLIP = 104;

  /** 32-bit floats. */
  public static final int FORMAT_FLOAT32 = 0;

  /** 16-bit floats. */
  public static final int FORMAT_FLOAT16 = 1;

  /** Bytes, read as {@code fma(scale, byte ^ flip, offset)}. */
  public static final int FORMAT_BYTE = 2;

  private SegmentLayout() {}
}
