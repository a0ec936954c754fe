package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::KMeansState} in native-kernels/include/vamana/kmeans.h, the state
 * of one subspace. Fields are named as there.
 */
public final class KMeansStateLayout {

  /** Size of the block. */
  public static final int BYTES = 32;

  public static final long RANDOM = 0;
  public static final long BEFORE = 8;
  public static final long ERROR = 16;
  public static final long DONE = 24;

  private KMeansStateLayout() {}
}
