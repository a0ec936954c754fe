package dev.vamana.cuda.kernel;

/**
 * The properties that searches of inverted lists must share to be launched together. Sizes are
 * rounded up, so that similar items share a shape.
 *
 * @param bytes whether vectors have bytes, rather than floats
 * @param quantized whether codes are of product quantization, rather than bits of components
 * @param width hits whose distances decide when a search ends, a power of two, or {@link
 *     Limits#MAX_BEAM_WIDTH}
 * @param dimension components of a rotated vector, a multiple of 64
 */
public record ListSearchShape(boolean bytes, boolean quantized, int width, int dimension)
    implements LaunchShape {

  private static final int MIN_WIDTH = 64;
  private static final int COMPONENTS = 64;

  /**
   * Returns the most shared memory of a block that searches items of this shape. A table of product
   * quantization takes none where it does not fit.
   */
  public int mostSharedBytes() {
    ListCodes codes = quantized ? ListCodes.TABLE_GLOBAL : ListCodes.BITS;
    return ListMemory.of(codes, width, ListMemory.SHARED_LISTS, dimension, dimension, 0, false)
        .sharedBytes();
  }

  /**
   * Returns the shape of an item, or null if no kernel supports it.
   *
   * @param quantized whether codes are of product quantization, rather than bits of components
   * @param width hits whose distances decide when a search ends
   */
  public static ListSearchShape of(boolean bytes, boolean quantized, int width, int dimension) {
    if (width > Limits.MAX_BEAM_WIDTH || dimension > Limits.MAX_DIMENSION) {
      return null;
    }
    int rounded = WalkShape.powerOfTwo(Math.max(width, MIN_WIDTH));
    return new ListSearchShape(
        bytes,
        quantized,
        Math.min(rounded, Limits.MAX_BEAM_WIDTH),
        (dimension + COMPONENTS - 1) / COMPONENTS * COMPONENTS);
  }
}
