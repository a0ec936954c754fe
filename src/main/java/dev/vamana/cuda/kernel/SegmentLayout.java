package dev.vamana.cuda.kernel;

import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Byte offsets of {@code vamana::Segment} in native-kernels/include/vamana/types.h. Fields are
 * named as there; addresses have 64 bits, other fields and floats 32, in native byte order.
 */
public final class SegmentLayout {

  /** Size of the block. */
  public static final int BYTES = 120;

  public static final long GRAPH = 0;
  public static final long VECTORS = 8;
  public static final long RAW = 16;
  public static final long CODES = 24;
  public static final long COLUMNS = 32;
  public static final long CENTROID_NORMS = 40;
  public static final long SIZE = 48;
  public static final long DIMENSION = 52;
  public static final long GRAPH_STRIDE = 56;
  public static final long MEDOID = 60;
  public static final long VECTOR_STRIDE = 64;
  public static final long RAW_STRIDE = 68;
  public static final long CODE_STRIDE = 72;
  public static final long SUBSPACES = 76;
  public static final long SIMILARITY = 80;
  public static final long VECTOR_FORMAT = 84;
  public static final long RAW_FORMAT = 88;
  public static final long BYTE_SCORING = 92;
  public static final long VECTOR_FACTS = 96;
  public static final long VECTOR_CENTER = 104;
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
