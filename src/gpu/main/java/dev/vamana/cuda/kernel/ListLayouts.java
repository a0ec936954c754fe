package dev.vamana.cuda.kernel;

import dev.vamana.ivf.Estimates;

/**
 * Byte offsets of the structs of inverted lists, which native-kernels/include/vamana/lists.h and
 * list_batch.h declare. Fields are named as there; addresses, counts of rows and strides of whole
 * blocks have 64 bits, other fields 32, in native byte order. {@code BYTES} is the size of a
 * struct. A test compares them with the headers.
 */
public final class ListLayouts {

  /** Of {@code vamana::Lists}, the inverted lists of a segment. */
  public interface ListsLayout {
    int BYTES = 88;
    long CENTROIDS = 0, FACTS = 8, STARTS = 16, NUMBERS = 24, ENTRIES = 32, SIGNS = 40;
    long LISTS = 48, PADDED = 52, BITS = 56, ROUNDS = 60, TRANSFORMED = 64, ESTIMATES = 68;
    long SPREAD = 72, QUANTILE = 76, HEAD_BYTES = 80, TAIL_BYTES = 84;

    /** Returns what {@code ESTIMATES} is for a kind of distances. */
    static int estimates(Estimates kind) {
      return switch (kind) {
        case EUCLIDEAN -> 0;
        case COSINE -> 1;
        case UNIT_PRODUCT -> 2;
        case BYTE_PRODUCT -> 3;
        case MAXIMUM_PRODUCT -> 4;
      };
    }
  }

  /** Of {@code vamana::ListSearch}, the parameter of searches one by one. */
  public interface ListSearchLayout {
    int BYTES = 72;
    long ITEMS = 0, COUNTER = 8, SCRATCH = 16, SCRATCH_STRIDE = 24, COUNT = 32, WIDTH = 36;
    long LISTS = 40, PADDED = 44, DIMENSION = 48, SUBSPACES = 52, FLAGS = 56, TEAM = 60;
    long TEAMS = 64;
  }

  /**
   * Of {@code vamana::ListBatch}, the parameter of searches together. {@code SEARCH} is a {@link
   * ListSearchLayout}.
   */
  public interface ListBatchLayout {
    int BYTES = 128;
    long SEARCH = 0, MEMORY = 72, SEGMENT = 80, REST = 88, LISTS = 96, PADDED = 100, KEPT = 104;
    long ROOM = 108, FIRST = 112, WAVE = 116, FROM = 120, ROWS = 124;
  }

  private ListLayouts() {}
}
