package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::ExactScan} in native-kernels/include/vamana/exact_scan.h, the
 * parameter of the exact-search kernels. Fields are named as there; addresses and {@code
 * SCORE_STRIDE} have 64 bits, other fields 32, in native byte order.
 */
public final class ExactScanLayout {

  /** Size of the block. */
  public static final int BYTES = 256;

  /** Address of rows of {@code ROW_STRIDE} bytes: floats or signed bytes. */
  public static final long ROWS = 0;

  /** Address of queries of {@code QUERY_STRIDE} bytes: floats. */
  public static final long QUERIES = 8;

  /** Address of a bitset of ordinals in 64-bit words, or 0. */
  public static final long ACCEPTED = 16;

  /** Address of ascending ordinals, one per candidate, or 0. */
  public static final long ORDINALS = 24;

  /** Address of a float per query and candidate, smaller is better; or 0. */
  public static final long SCORES = 32;

  /** Address of {@code K} keys per query. */
  public static final long FOUND = 40;

  /** Address of {@code K} keys per query: the best of {@code FOUND} and {@code EARLIER}. */
  public static final long JOINED = 48;

  /** Address of {@code K} keys per query. */
  public static final long EARLIER = 56;

  /** Address of {@code K} keys per query and block. */
  public static final long PARTS = 64;

  /** Address of a counter that is zero between launches. */
  public static final long TICKET = 72;

  /** Address of candidates in the format of the products. */
  public static final long COPIES = 80;

  /** Address of queries in the format of the products. */
  public static final long TARGETS = 88;

  /** Address of a number per candidate that is added to its products. */
  public static final long BIASES = 96;

  /** Address of each query's smallest product of interest. */
  public static final long THRESHOLDS = 104;

  /** Address of each buffer's number of entries. */
  public static final long COUNTS = 112;

  /** Address of twice the error bound of each query's products. */
  public static final long SLACKS = 120;

  /** Address of {@code CAPACITY} entries per query. */
  public static final long BUFFERS = 128;

  /** Address of an {@link ExactFactsLayout} of all rows. */
  public static final long FACTS = 136;

  /** Address of a mark per query that has to be searched again. */
  public static final long REDO = 144;

  /** Number of floats in {@code SCORES} between queries. */
  public static final long SCORE_STRIDE = 152;

  /** Number of candidates. */
  public static final long CANDIDATES = 160;

  /** Number of queries. */
  public static final long QUERY_COUNT = 164;

  /** Components of a row. */
  public static final long DIMENSION = 168;

  /** Bytes between rows, a multiple of 16. */
  public static final long ROW_STRIDE = 172;

  /** Bytes between queries, a multiple of 16. */
  public static final long QUERY_STRIDE = 176;

  /** Bytes between copies, a multiple of {@link ExactLimits#DEPTH}. */
  public static final long COPY_STRIDE = 180;

  /** Ordinal of the similarity. */
  public static final long SIMILARITY = 184;

  /** 1 if the vectors were indexed as bytes. */
  public static final long BYTE_SCORING = 188;

  /** Ordinal of the first row. */
  public static final long FIRST_ORDINAL = 192;

  /** Number of rows. */
  public static final long SIZE = 196;

  /** Hits of a query. */
  public static final long K = 200;

  /** Entries of a buffer. */
  public static final long CAPACITY = 204;

  /** First tile of a range. */
  public static final long FIRST_TILE = 208;

  /** Tiles of a range. */
  public static final long TILE_COUNT = 212;

  /** Number of all tiles. */
  public static final long TILES = 216;

  /** Step of the order of tiles, coprime to their number. */
  public static final long TILE_STEP = 220;

  /** 1 if candidate i is row i rather than the row of its ordinal. */
  public static final long PACKED = 224;

  /** Format of copies and targets: 0 half precision, 1 unsigned bytes, 2 signed bytes. */
  public static final long FORMAT = 228;

  /** Factor of the components in half precision, a float. */
  public static final long SCALE = 232;

  /** Number of parts of each query that are joined after a scan of several queries. */
  public static final long PART_COUNT = 236;

  /** Address of {@code K} floats of {@code SCORES} per query, best first. */
  public static final long SELECTED_KEYS = 240;

  /** Address of the candidates that these scores belong to. */
  public static final long SELECTED_CANDIDATES = 248;

  private ExactScanLayout() {}
}
