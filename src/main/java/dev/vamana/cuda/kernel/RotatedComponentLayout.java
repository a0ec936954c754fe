package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::RotatedComponent} in native-kernels/include/vamana/lists.h: where
 * a trained rotation has the numbers of a component. Fields have 32 bits, in native byte order.
 */
public final class RotatedComponentLayout {

  /** Size of the block. */
  public static final int BYTES = 16;

  /** First component of a vector that is part of the sum. */
  public static final long FIRST = 0;

  /** Components that are part of the sum; 0 behind the dimension. */
  public static final long LENGTH = 4;

  /** Number among the rotation's numbers of the first factor; the next are {@code LENGTH} apart. */
  public static final long AT = 8;

  private RotatedComponentLayout() {}
}
