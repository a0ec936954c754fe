package dev.vamana.cuda.kernel;

import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Byte offsets of the structs of walks, which native-kernels/include/vamana/types.h and
 * host_fetch.h declare. Fields are named as there; addresses, counts of rows and strides of whole
 * blocks have 64 bits, other fields 32, in native byte order. {@code BYTES} is the size of a
 * struct. A test compares them with the headers.
 */
public final class WalkLayouts {

  /** Of {@code vamana::Segment}. */
  public interface SegmentLayout {
    int BYTES = 120;
    long GRAPH = 0, VECTORS = 8, RAW = 16, CODES = 24, COLUMNS = 32, CENTROID_NORMS = 40;
    long SIZE = 48, DIMENSION = 52, GRAPH_STRIDE = 56, MEDOID = 60, VECTOR_STRIDE = 64;
    long RAW_STRIDE = 68, CODE_STRIDE = 72, SUBSPACES = 76, SIMILARITY = 80, VECTOR_FORMAT = 84;
    long RAW_FORMAT = 88, BYTE_SCORING = 92, VECTOR_FACTS = 96, VECTOR_CENTER = 104;
    long WHOLE_COPIES = 112;

    /** Format: 32-bit floats. */
    int FORMAT_FLOAT32 = 0;

    /** Format: 16-bit floats. */
    int FORMAT_FLOAT16 = 1;

    /**
     * Format: signed bytes. Those of a copy times its step, plus the center, are the components.
     */
    int FORMAT_BYTE = 2;

    /** Returns what {@code SIMILARITY} is for a field's similarity. */
    static int similarity(VectorSimilarityFunction function) {
      return switch (function) {
        case EUCLIDEAN -> 0;
        case DOT_PRODUCT -> 1;
        case COSINE -> 2;
        case MAXIMUM_INNER_PRODUCT -> 3;
      };
    }
  }

  /** Of {@code vamana::Item}, one query over one segment. */
  public interface ItemLayout {
    int BYTES = 72;
    long SEGMENT = 0, QUERY = 8, ACCEPTED = 16, ENTRY_POINTS = 24, RESULT = 32, ENTRY_COUNT = 40;
    long K = 44, BEAM = 48, PARENTS = 52, RERANK = 56, VISIT_LIMIT = 60, CAPACITY = 64;
  }

  /**
   * Of {@code vamana::Result}: ordinals follow it, then scores, as many of each as the item's
   * capacity.
   */
  public interface ResultLayout {
    /** Size without the hits. */
    int BYTES = 16;

    long COUNT = 0, VISITED = 4, FLAGS = 8, ITERATIONS = 12;

    /** Flag: the walk ended before its visit limit. */
    int FLAG_COMPLETE = 1;

    /** Flag: an ordinal read from a file was out of range; the result is void. */
    int FLAG_CORRUPT = 2;

    /** Flag: scores are not exact; the caller has to re-rank. */
    int FLAG_APPROXIMATE = 4;

    /** Flag: more nodes were expanded than the scratch memory holds; the result is void. */
    int FLAG_OVERFLOW = 8;

    /** Returns the bytes of a result with room for {@code capacity} hits. */
    static long bytes(int capacity) {
      return BYTES + 2L * Integer.BYTES * capacity;
    }

    /** Returns the offset of the first ordinal. */
    static long ordinals() {
      return BYTES;
    }

    /** Returns the offset of the first score. */
    static long scores(int capacity) {
      return BYTES + (long) Integer.BYTES * capacity;
    }
  }

  /** Of {@code vamana::Walk}, the parameter of the walk kernels. */
  public interface WalkLayout {
    int BYTES = 64;
    long ITEMS = 0, COUNTER = 8, SCRATCH = 16, SCRATCH_STRIDE = 24, COUNT = 32;
    long LIST_CAPACITY = 36, FRESH_CAPACITY = 40, VISITED_SLOTS = 44, DIMENSION = 48;
    long SUBSPACES = 52, EXPANDED_CAPACITY = 56, FLAGS = 60;

    /**
     * Flag: the items lie side by side, and {@link #ITEMS} is the address of the first, which saves
     * one read over the bus before a walk begins.
     */
    int FLAG_SIDE_BY_SIDE = 1;

    /**
     * Flag: a visit limit may end a walk of the launch. Walks then add nodes to their visited sets
     * in an order that no race decides, because a forgotten node counts again.
     */
    int FLAG_LIMITED = 2;
  }

  /**
   * Of {@code vamana::HostFetch}, the parameter of {@code host_fetch_begin} and {@code
   * host_fetch_step}.
   */
  public interface HostFetchLayout {
    int BYTES = 96;
    long ITEMS = 0, STATES = 8, TABLES = 16, LISTS = 24, VISITED = 32, SLOTS = 40, ROWS = 48;
    long PICKS = 56, COUNT = 64, TABLE_STRIDE = 68, LIST_CAPACITY = 72, FRESH_CAPACITY = 76;
    long VISITED_SLOTS = 80, ROW_STRIDE = 84, PARENTS = 88;
  }

  /** Of what the host reads of {@code vamana::FetchState}, a query between two steps. */
  public interface FetchStateLayout {
    int BYTES = 56;
    long VISITED = 28, ITERATIONS = 32, LIST_SIZE = 36, FLAGS = 44;
  }

  private WalkLayouts() {}
}
