package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::FetchState} in native-kernels/include/vamana/host_fetch.h, the
 * state of one query between the kernels of a step, in device memory: what the host reads. Fields
 * are named as there; addresses and keys have 64 bits, other fields 32, in native byte order.
 */
public final class FetchStateLayout {

  /** Size of the block. */
  public static final int BYTES = 56;

  public static final long VISITED = 28;
  public static final long ITERATIONS = 32;
  public static final long LIST_SIZE = 36;
  public static final long FLAGS = 44;

  private FetchStateLayout() {}
}
