package dev.vamana.cuda.kernel;

/**
 * {@code vamana::KMeansState} of native-kernels/include/vamana/kmeans.h, what is known about one
 * subspace: byte offsets of its fields, each named as there.
 */
public final class KMeansStateLayout {

  /** Size of the block. */
  public static final int BYTES = 32;

  /** State of the random generator, 64 bits. */
  public static final long RANDOM = 0;

  /** Error of the iteration before, a double. */
  public static final long BEFORE = 8;

  /** Squared error of the last assignment, a double. */
  public static final long ERROR = 16;

  /** Whether iterations leave the subspace alone, 32 bits. */
  public static final long DONE = 24;

  private KMeansStateLayout() {}
}
