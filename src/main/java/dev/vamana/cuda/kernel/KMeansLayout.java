package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::KMeans} in native-kernels/include/vamana/kmeans.h, the parameter
 * of the k-means kernels. Fields are named as there; {@code TOLERANCE} is a double; addresses,
 * {@code COUNT} and {@code CAPACITY} have 64 bits, other fields 32, in native byte order.
 */
public final class KMeansLayout {

  /** Size of the block. */
  public static final int BYTES = 176;

  public static final long ROWS = 0;
  public static final long CENTROIDS = 8;
  public static final long CODES = 16;
  public static final long ASSIGNED = 24;
  public static final long ERRORS = 32;
  public static final long COUNTS = 40;
  public static final long ORDER = 48;
  public static final long STARTS = 56;
  public static final long PARTS = 64;
  public static final long SUMS = 72;
  public static final long STATES = 80;
  public static final long CANDIDATES = 88;
  public static final long COLUMNS = 96;
  public static final long CHUNK_ERRORS = 104;
  public static final long COUNT = 112;
  public static final long CAPACITY = 120;
  public static final long TOLERANCE = 128;
  public static final long DIMS = 136;
  public static final long SUBSPACES = 140;
  public static final long K = 144;
  public static final long ROW_STRIDE = 148;
  public static final long POOL = 152;
  public static final long PART_CAPACITY = 156;
  public static final long MAX_LENGTH = 160;
  public static final long FIRST = 164;
  public static final long STEP = 168;

  private KMeansLayout() {}
}
