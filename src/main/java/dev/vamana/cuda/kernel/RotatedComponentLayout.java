package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::RotatedComponent} in native-kernels/include/vamana/lists.h: where
 * a trained rotation has the numbers of a component. Fields have 32 bits, in native byte order.
 */
public final class RotatedComponentLayout {

  /** Size of the block. */
  public static final int BYTES = 16;

  public static final long FIRST = 0;
  public static final long LENGTH = 4;
  public static final long AT = 8;

  private RotatedComponentLayout() {}
}
