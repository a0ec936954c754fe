package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::ExactScan} in native-kernels/include/vamana/exact_scan.h, the
 * parameter of the exact-search kernels. Fields are named as there; addresses and {@code
 * SCORE_STRIDE} have 64 bits, other fields 32, in native byte order.
 */
public final class ExactScanLayout {

  /** Size of the block. */
  public static final int BYTES = 256;

  public static final long ROWS = 0;
  public static final long QUERIES = 8;
  public static final long ACCEPTED = 16;
  public static final long ORDINALS = 24;
  public static final long SCORES = 32;
  public static final long FOUND = 40;
  public static final long JOINED = 48;
  public static final long EARLIER = 56;
  public static final long PARTS = 64;
  public static final long TICKET = 72;
  public static final long COPIES = 80;
  public static final long TARGETS = 88;
  public static final long BIASES = 96;
  public static final long THRESHOLDS = 104;
  public static final long COUNTS = 112;
  public static final long SLACKS = 120;
  public static final long BUFFERS = 128;
  public static final long FACTS = 136;
  public static final long REDO = 144;
  public static final long SCORE_STRIDE = 152;
  public static final long CANDIDATES = 160;
  public static final long QUERY_COUNT = 164;
  public static final long DIMENSION = 168;
  public static final long ROW_STRIDE = 172;
  public static final long QUERY_STRIDE = 176;
  public static final long COPY_STRIDE = 180;
  public static final long SIMILARITY = 184;
  public static final long BYTE_SCORING = 188;
  public static final long FIRST_ORDINAL = 192;
  public static final long SIZE = 196;
  public static final long K = 200;
  public static final long CAPACITY = 204;
  public static final long FIRST_TILE = 208;
  public static final long TILE_COUNT = 212;
  public static final long TILES = 216;
  public static final long TILE_STEP = 220;
  public static final long PACKED = 224;
  public static final long FORMAT = 228;
  public static final long SCALE = 232;
  public static final long PART_COUNT = 236;
  public static final long SELECTED_KEYS = 240;
  public static final long SELECTED_CANDIDATES = 248;

  private ExactScanLayout() {}
}
