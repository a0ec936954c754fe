package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::FetchGroup} in native-kernels/include/vamana/host_fetch.h, the
 * candidates of one slot. Fields are named as there and have 32 bits, in native byte order.
 */
public final class FetchGroupLayout {

  /** Size of the block. */
  public static final int BYTES = 16;

  public static final long SLOT = 0;
  public static final long FIRST = 4;
  public static final long COUNT = 8;

  private FetchGroupLayout() {}
}
