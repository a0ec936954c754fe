package dev.vamana.cuda.kernel;

/**
 * Byte offsets of the structs with which segments are made: graphs, codebooks and copies of
 * vectors. Headers build.h, kmeans.h and convert.h in native-kernels/include/vamana declare them.
 * Fields are named as there; addresses, counts of rows and strides of whole blocks have 64 bits,
 * other fields 32, in native byte order. {@code BYTES} is the size of a struct. A test compares
 * them with the headers.
 */
public final class BuildLayouts {

  /** Of {@code vamana::Build}, the parameter of the kernels that build graphs. */
  public interface BuildLayout {
    int BYTES = 152;
    long SEGMENT = 0, VECTORS = 8, GRAPH = 16, NODES = 24, FOUND = 32, ITEMS = 40, ADDRESSES = 48;
    long COUNTERS = 56, ARRIVALS = 64, STARTS = 72, RUNS = 80, SOURCES = 88, INVERSE_NORMS = 96;
    long FIRST = 104, COUNT = 108, SIZE = 112, DIMENSION = 116, VECTOR_STRIDE = 120;
    long GRAPH_STRIDE = 124, MAX_DEGREE = 128, SLOTS = 132, BEAM = 136, PARENTS = 140;
    long CANDIDATES = 144, ALPHA = 148;
  }

  /**
   * Of {@code vamana::KMeans}, the parameter of the k-means kernels. {@code TOLERANCE} is a double.
   */
  public interface KMeansLayout {
    int BYTES = 176;
    long ROWS = 0, CENTROIDS = 8, CODES = 16, ASSIGNED = 24, ERRORS = 32, COUNTS = 40, ORDER = 48;
    long STARTS = 56, PARTS = 64, SUMS = 72, STATES = 80, CANDIDATES = 88, COLUMNS = 96;
    long CHUNK_ERRORS = 104, COUNT = 112, CAPACITY = 120, TOLERANCE = 128, DIMS = 136;
    long SUBSPACES = 140, K = 144, ROW_STRIDE = 148, POOL = 152, PART_CAPACITY = 156;
    long MAX_LENGTH = 160, FIRST = 164, STEP = 168;
  }

  /** Of {@code vamana::KMeansState}, the state of one subspace. */
  public interface KMeansStateLayout {
    int BYTES = 32;
    long RANDOM = 0, BEFORE = 8, ERROR = 16, DONE = 24;
  }

  /** Of {@code vamana::Convert}, the parameter of conversions to smaller formats. */
  public interface ConvertLayout {
    int BYTES = 64;
    long SOURCE = 0, TARGET = 8, ROWS = 16, DIMENSION = 24, SOURCE_STRIDE = 28;
    long TARGET_STRIDE = 32, UNIT = 36, CENTER = 40, FACTS = 48, RESULT = 56;
  }

  /** Of {@code vamana::Range}, the parameter of the search for the range of components. */
  public interface RangeLayout {
    int BYTES = 32;
    long SOURCE = 0, RESULT = 8, ROWS = 16, DIMENSION = 24, SOURCE_STRIDE = 28;
  }

  /** Of {@code vamana::RangeResult}. */
  public interface RangeResultLayout {
    int BYTES = 16;
    long HIGHEST = 0, LOWEST = 4, FLAGS = 8;

    /** Flag: a component is not one of the integers 0 to 255. */
    int FLAG_FRACTIONS = 1;

    /** Flag: a component is infinite or NaN. */
    int FLAG_NOT_FINITE = 2;

    /** Flag: a copy in bytes is not the vector itself. */
    int FLAG_ROUNDED = 4;

    /** Returns the float of these sortable bits, which order floats as unsigned integers. */
    static float unsortable(int bits) {
      return Float.intBitsToFloat(bits ^ (bits < 0 ? 0x80000000 : 0xFFFFFFFF));
    }
  }

  /** Sizes shared by the k-means kernels and the code that launches them. */
  public interface KMeansSizes {
    /** Rows counted and sorted together. */
    int CHUNK = 4096;

    /** Rows summed up together. */
    int PART = 512;

    /** Rows of a block of the kernels for short sub-vectors. */
    int SHORT_ROWS = 1024;

    /** Rows of a block of the kernels that work on tiles. */
    int TILE_ROWS = 128;

    /** Most centroids of a subspace. */
    int MAX_CENTROIDS = 8192;

    /** Bytes of a seed candidate. */
    int CANDIDATE_BYTES = 8;
  }

  private BuildLayouts() {}
}
