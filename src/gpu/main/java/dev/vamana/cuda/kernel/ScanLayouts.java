package dev.vamana.cuda.kernel;

/**
 * Byte offsets of the structs of exact scans and selections, which
 * native-kernels/include/vamana/exact_scan.h and select/select.h declare. Fields are named as
 * there; addresses, counts of rows and strides of whole blocks have 64 bits, other fields 32, in
 * native byte order. {@code BYTES} is the size of a struct. A test compares them with the headers.
 */
public final class ScanLayouts {

  /** Of {@code vamana::ExactScan}, the parameter of a scan. */
  public interface ExactScanLayout {
    int BYTES = 256;
    long ROWS = 0, QUERIES = 8, ACCEPTED = 16, ORDINALS = 24, SCORES = 32, FOUND = 40;
    long JOINED = 48, EARLIER = 56, PARTS = 64, TICKET = 72, COPIES = 80, TARGETS = 88;
    long BIASES = 96, THRESHOLDS = 104, COUNTS = 112, SLACKS = 120, BUFFERS = 128, FACTS = 136;
    long REDO = 144, SCORE_STRIDE = 152, CANDIDATES = 160, QUERY_COUNT = 164, DIMENSION = 168;
    long ROW_STRIDE = 172, QUERY_STRIDE = 176, COPY_STRIDE = 180, SIMILARITY = 184;
    long BYTE_SCORING = 188, FIRST_ORDINAL = 192, SIZE = 196, K = 200, CAPACITY = 204;
    long FIRST_TILE = 208, TILE_COUNT = 212, TILES = 216, TILE_STEP = 220, FORMAT = 224;
    long SCALE = 228, PART_COUNT = 232, SELECTED_KEYS = 240, SELECTED_CANDIDATES = 248;
  }

  /** Of {@code vamana::ExactFacts}. */
  public interface ExactFactsLayout {
    int BYTES = 16;
    long LARGEST_NORM = 0, FLAGS = 4, SKIPPED = 8;
  }

  /** Of {@code vamana::ExactMany}, the parameter of many scans in one launch. */
  public interface ExactManyLayout {
    int BYTES = 24;
    long SCANS = 0, BLOCKS = 8, COUNT = 16;
  }

  /** Of {@code vamana::ExactBlock}: the task of a block in a launch of many scans. */
  public interface ExactBlockLayout {
    int BYTES = 16;
    long SCAN = 0, PART = 4, PARTS = 8;
  }

  /** Of {@code vamana::select::Select}, the parameter of a selection. */
  public interface SelectLayout {
    int BYTES = 56;
    long KEYS = 0, OUT_KEYS = 8, OUT_IDS = 16, SCRATCH = 24, ROWS = 32, N = 36, STRIDE = 40;
    long K = 44, PARTITIONS = 48;
  }

  /** Constants of native-kernels/include/vamana/exact_scan.h. */
  public interface ExactLimits {
    /** Most hits for which a scan of a few queries selects itself. */
    int FEW_HITS = 128;

    /** Most blocks of a scan of a few queries. */
    int MOST_PARTS = 512;

    /** Shared memory per query of a scan of a few queries, in addition to the query itself. */
    int NEAREST_BYTES = 4112;

    /** Queries and candidates of a tile of products. */
    int TILE = 128;

    /** Bytes of a query or candidate multiplied at a time. */
    int DEPTH = 128;

    /** Stages of the matrix-product pipeline. */
    int STAGES = 3;

    /** Shared memory of a stage. */
    int STAGE_BYTES = 33_792;

    /** Format number: products in half precision. */
    int HALF = 0;

    /** Format number: products of bytes from 0 to 255. */
    int UNSIGNED = 1;

    /** Format number: products of bytes from -128 to 127. */
    int SIGNED = 2;
  }

  private ScanLayouts() {}
}
