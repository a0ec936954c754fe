package dev.vamana.cuda.kernel;

/**
 * {@code vamana::FetchGroup} of native-kernels/include/vamana/host_fetch.h, the candidates of one
 * slot: byte offsets of its fields, each named as there. Addresses and keys are 64 bits wide, other
 * fields 32, in native byte order.
 */
public final class FetchGroupLayout {

  /** Size of the block. */
  public static final int BYTES = 16;

  /** The slot. */
  public static final long SLOT = 0;

  /** Its first candidate. */
  public static final long FIRST = 4;

  /** Its candidates. */
  public static final long COUNT = 8;

  private FetchGroupLayout() {}
}
