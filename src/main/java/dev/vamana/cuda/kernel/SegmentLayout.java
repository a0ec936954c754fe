package dev.vamana.cuda.kernel;

import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Byte offsets of {@code vamana::Segment} in native-kernels/include/vamana/types.h. Fields are
 * named as there; addresses have 64 bits, other fields and floats 32, in native byte order.
 */
public final class SegmentLayout {

  /** Size of the block. */
  public static final int BYTES = 120;

  /** Address of {@code SIZE} rows of {@code GRAPH_STRIDE} ordinals, 16-byte aligned. */
  public static final long GRAPH = 0;

  /** Address of the vectors that exact walks read, rows of {@code VECTOR_STRIDE} bytes; or 0. */
  public static final long VECTORS = 8;

  /** Address of the vectors that re-ranking reads, rows of {@code RAW_STRIDE} bytes; or 0. */
  public static final long RAW = 16;

  /** Address of the codes, rows of {@code CODE_STRIDE} bytes, 16-byte aligned; or 0. */
  public static final long CODES = 24;

  /** Address of the codebook, component d of centroid c at float d * 256 + c; or 0. */
  public static final long COLUMNS = 32;

  /** Address of each subspace's largest centroid norm, floats; or 0. */
  public static final long CENTROID_NORMS = 40;

  /** Number of vectors. */
  public static final long SIZE = 48;

  /** Components of a vector, 1 to {@link Limits#MAX_DIMENSION}. */
  public static final long DIMENSION = 52;

  /** Slots of an adjacency row, a multiple of 4, at most {@link Limits#MAX_DEGREE}. */
  public static final long GRAPH_STRIDE = 56;

  /** Ordinal from which walks start. */
  public static final long MEDOID = 60;

  /** Bytes between rows of {@code VECTORS}, a multiple of 16. */
  public static final long VECTOR_STRIDE = 64;

  /** Bytes between rows of {@code RAW}. */
  public static final long RAW_STRIDE = 68;

  /** Bytes between rows of {@code CODES}, a multiple of 16. */
  public static final long CODE_STRIDE = 72;

  /** Subspaces of a code, 1 to {@link Limits#MAX_SUBSPACES}; 0 without codes. */
  public static final long SUBSPACES = 76;

  /** Ordinal of Lucene's {@code VectorSimilarityFunction}. */
  public static final long SIMILARITY = 80;

  /** Format of {@code VECTORS}, one of the {@code FORMAT} constants. */
  public static final long VECTOR_FORMAT = 84;

  /** Format of {@code RAW}, {@link #FORMAT_FLOAT32} or {@link #FORMAT_BYTE}. */
  public static final long RAW_FORMAT = 88;

  /** 1 if the segment's encoding is BYTE, else 0. */
  public static final long BYTE_SCORING = 92;

  /**
   * Address of two floats for each copy in bytes in {@code VECTORS}: the step of its components,
   * and the squared length of its bytes in such steps; or 0.
   */
  public static final long VECTOR_FACTS = 96;

  /** Address of the center of copies in bytes, {@code DIMENSION} floats; or 0. */
  public static final long VECTOR_CENTER = 104;

  /**
   * 1 if copies in bytes are the vectors themselves: all steps are 1 and nothing was rounded. The
   * similarity is Euclidean then, and there are at most {@link Limits#MAX_WHOLE_DIMENSION}
   * components.
   */
  public static final long WHOLE_COPIES = 112;

  /** Format: 32-bit floats. */
  public static final int FORMAT_FLOAT32 = 0;

  /** Format: 16-bit floats. */
  public static final int FORMAT_FLOAT16 = 1;

  /** Format: signed bytes. Those of a copy times its step, plus the center, are the components. */
  public static final int FORMAT_BYTE = 2;

  /** Returns what {@code SIMILARITY} is for a field's similarity. */
  public static int similarity(VectorSimilarityFunction function) {
    return switch (function) {
      case EUCLIDEAN -> 0;
      case DOT_PRODUCT -> 1;
      case COSINE -> 2;
      case MAXIMUM_INNER_PRODUCT -> 3;
    };
  }

  private SegmentLayout() {}
}
