package dev.vamana.cuda.kernel;

/** Sizes shared by the k-means kernels and the code that launches them. */
public final class KMeansSizes {

  /** Rows counted and sorted together. */
  public static final int CHUNK = 4096;

  /** Rows summed up together. */
  public static final int PART = 512;

  /** Rows of a block of the kernels for short sub-vectors. */
  public static final int SHORT_ROWS = 1024;

  /** Rows of a block of the kernels that work on tiles. */
  public static final int TILE_ROWS = 128;

  /** Most seed candidates of the kernels for short sub-vectors. */
  public static final int SHORT_POOL = 2048;

  /** Most centroids of a subspace. */
  public static final int MAX_CENTROIDS = 8192;

  /** Bytes of a seed candidate. */
  public static final int CANDIDATE_BYTES = 8;

  private KMeansSizes() {}
}
