package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::FetchState} in native-kernels/include/vamana/host_fetch.h, the
 * state of one query between the kernels of a step, in device memory: what the host reads. Fields
 * are named as there; addresses and keys have 64 bits, other fields 32, in native byte order.
 */
public final class FetchStateLayout {

  /** Size of the block. */
  public static final int BYTES = 72;

  /** Number of nodes whose distance was computed. */
  public static final long VISITED = 44;

  /** Steps of the walk. */
  public static final long ITERATIONS = 48;

  /** Entries of the worklist. */
  public static final long LIST_SIZE = 52;

  /** {@link ResultLayout} flags. Any of them ends the walk. */
  public static final long FLAGS = 64;

  private FetchStateLayout() {}
}
