package dev.vamana.cuda.kernel;

/** Sizes that the kernels of k-means and those who start them agree on. */
public final class KMeansSizes {

  /** Rows that are counted and sorted together. */
  public static final int CHUNK = 4096;

  /** Rows that are summed up together. */
  public static final int PART = 512;

  /** Rows of a block of the kernels for short sub-vectors. */
  public static final int SHORT_ROWS = 1024;

  /** Rows of a block of the kernels that work on tiles. */
  public static final int TILE_ROWS = 128;

  /** Most candidates for seeds of the kernels for short sub-vectors. */
  public static final int SHORT_POOL = 2048;

  /** Most centroids of a subspace. */
  public static final int MAX_CENTROIDS = 8192;

  /** Centroids in fixed point have a multiple of so many bytes. */
  public static final int BYTE_STEP = 64;

  /** Size of a candidate. */
  public static final int CANDIDATE_BYTES = 8;

  private static final int BYTE_STAGES = 4;

  private KMeansSizes() {}

  /** Dynamic shared memory of {@code kmeans_assign_bytes}: a block's rows, and centroids. */
  public static int byteSharedBytes(int fixedStride) {
    return fixedStride * TILE_ROWS + BYTE_STAGES * 2 * TILE_ROWS * BYTE_STEP;
  }
}
