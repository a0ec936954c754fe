package dev.vamana.cuda.kernel;

/**
 * {@code vamana::KMeans} of native-kernels/include/vamana/kmeans.h, the parameter of the kernels of
 * k-means: byte offsets of its fields, each named as there. {@code TOLERANCE} is a double,
 * addresses, {@code COUNT} and {@code CAPACITY} are 64 bits wide, other fields 32, in native byte
 * order.
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

  /** Address of rows of each cluster in each chunk, by subspace. */
  public static final long COUNTS = 40;

  /** Address of rows sorted by cluster, by subspace. */
  public static final long ORDER = 48;

  /** Address of where clusters start in {@code ORDER}, by subspace. */
  public static final long STARTS = 56;

  /** Address of where clusters start among the parts, by subspace. */
  public static final long PARTS = 64;

  /** Address of doubles: sums of the rows of each part, by subspace. */
  public static final long SUMS = 72;

  /** Address of a {@link KMeansStateLayout} a subspace; 0 when encoding. */
  public static final long STATES = 80;

  /** Address of {@code POOL} candidates for seeds, by subspace. */
  public static final long CANDIDATES = 88;

  /** Address of the components of the candidates, by subspace and component. */
  public static final long COLUMNS = 96;

  /** Address of a double a chunk: the sum of its errors, by subspace. */
  public static final long CHUNK_ERRORS = 104;

  /** Address of centroids in fixed point, where rows are bytes. */
  public static final long FIXED = 112;

  /** Address of a 64-bit key a centroid, where rows are bytes. */
  public static final long KEYS = 120;

  /** Rows that are assigned. */
  public static final long COUNT = 128;

  /** Rows that there is room for in {@code ASSIGNED}, {@code ERRORS} and {@code ORDER}. */
  public static final long CAPACITY = 136;

  /** Fraction of the error that an iteration has to gain for another one to follow. */
  public static final long TOLERANCE = 144;

  /** Components of a row. */
  public static final long DIMS = 152;

  /** Subspaces that rows are cut into. */
  public static final long SUBSPACES = 156;

  /** Centroids of a subspace. */
  public static final long K = 160;

  /** Bytes from one row to the next. */
  public static final long ROW_STRIDE = 164;

  /** Most candidates for seeds. */
  public static final long POOL = 168;

  /** Parts that there is room for in a subspace. */
  public static final long PART_CAPACITY = 172;

  /** Components of the longest subspace. */
  public static final long MAX_LENGTH = 176;

  /** Bytes from one centroid in fixed point to the next. */
  public static final long FIXED_STRIDE = 180;

  /** Whether all centroids are drawn, not only those of empty clusters. */
  public static final long FIRST = 184;

  /** Ordinal of the centroid that is drawn, or that distances are of. */
  public static final long STEP = 188;

  private KMeansLayout() {}
}
