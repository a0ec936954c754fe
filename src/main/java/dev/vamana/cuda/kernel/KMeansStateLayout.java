package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::KMeansState} in native-kernels/include/vamana/kmeans.h, the state
 * of one subspace. Fields are named as there.
 */
public final class KMeansStateLayout {

  /** Size of the block. */
  public static final int BYTES = 32;

  /** State of the random generator, 64 bits. */
  public static final long RANDOM = 0;

  /** Error of the previous iteration, a double. */
  public static final long BEFORE = 8;

  /** Squared error of the last assignment, a double. */
  public static final long ERROR = 16;

  /** Whether the subspace takes no part in further iterations, 32 bits. */
  public static final long DONE = 24;

  private KMeansStateLayout() {}
}
