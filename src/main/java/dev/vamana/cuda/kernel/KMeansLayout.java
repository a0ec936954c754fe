package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::KMeans} in native-kernels/include/vamana/kmeans.h, the parameter
 * of the k-means kernels. Fields are named as there; {@code TOLERANCE} is a double; addresses,
 * {@code COUNT} and {@code CAPACITY} have 64 bits, other fields 32, in native byte order.
 */
public final class KMeansLayout {

  /** Size of the block. */
  public static final int BYTES = 192;

  /** Address of rows of {@code ROW_STRIDE} bytes: {@code DIMS} floats, or bytes. */
  public static final long ROWS = 0;

  /** Address of floats: each subspace's centroids one after the other. */
  public static final long CENTROIDS = 8;

  /** Address of codes of {@code SUBSPACES} bytes; 0 when training. */
  public static final long CODES = 16;

  /** Address of each row's cluster, by subspace. */
  public static final long ASSIGNED = 24;

  /** Address of each row's squared error, by subspace. */
  public static final long ERRORS = 32;

  /** Address of the number of rows of each cluster in each chunk, by subspace. */
  public static final long COUNTS = 40;

  /** Address of rows sorted by cluster, by subspace. */
  public static final long ORDER = 48;

  /** Address of each cluster's start in {@code ORDER}, by subspace. */
  public static final long STARTS = 56;

  /** Address of each cluster's start among the parts, by subspace. */
  public static final long PARTS = 64;

  /** Address of doubles: sums of the rows of each part, by subspace. */
  public static final long SUMS = 72;

  /** Address of one {@link KMeansStateLayout} per subspace; 0 when encoding. */
  public static final long STATES = 80;

  /** Address of {@code POOL} seed candidates, by subspace. */
  public static final long CANDIDATES = 88;

  /** Address of the components of the candidates, by subspace and component. */
  public static final long COLUMNS = 96;

  /** Address of a double per chunk: the sum of its errors, by subspace. */
  public static final long CHUNK_ERRORS = 104;

  /** Address of centroids in fixed point, if rows are bytes. */
  public static final long FIXED = 112;

  /** Address of one 64-bit key per centroid, if rows are bytes. */
  public static final long KEYS = 120;

  /** Number of rows to assign. */
  public static final long COUNT = 128;

  /** Number of rows that {@code ASSIGNED}, {@code ERRORS} and {@code ORDER} have room for. */
  public static final long CAPACITY = 136;

  /** Fraction by which an iteration has to lower the error for another one to follow. */
  public static final long TOLERANCE = 144;

  /** Components of a row. */
  public static final long DIMS = 152;

  /** Number of subspaces. */
  public static final long SUBSPACES = 156;

  /** Centroids of a subspace. */
  public static final long K = 160;

  /** Bytes between rows. */
  public static final long ROW_STRIDE = 164;

  /** Most seed candidates. */
  public static final long POOL = 168;

  /** Number of parts of a subspace that there is room for. */
  public static final long PART_CAPACITY = 172;

  /** Components of the longest subspace. */
  public static final long MAX_LENGTH = 176;

  /** Bytes between centroids in fixed point. */
  public static final long FIXED_STRIDE = 180;

  /** Whether all centroids are drawn, rather than only centroids of empty clusters. */
  public static final long FIRST = 184;

  /** Number of the centroid that is drawn, or to which distances are computed. */
  public static final long STEP = 188;

  private KMeansLayout() {}
}
