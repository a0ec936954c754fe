package dev.vamana.cuda.kernel;

/**
 * The properties that items must share to be launched together. Sizes are rounded up, so that
 * similar items share a shape.
 *
 * @param reads representation of vectors that the walk reads
 * @param beam capacity of the worklist, a power of two, or {@link Limits#MAX_BEAM_WIDTH}
 * @param fresh most neighbours of a step, a power of two
 * @param dimension components of a vector, a multiple of 16
 * @param subspaces subspaces of a code, 0 unless codes are read
 * @param expanded whether all expanded nodes are re-ranked
 */
public record WalkShape(
    Reads reads, int beam, int fresh, int dimension, int subspaces, boolean expanded)
    implements LaunchShape {

  /** Most neighbours of a step. */
  public static final int MAX_FRESH = Limits.MAX_DEGREE * Limits.MAX_PARENTS;

  private static final int MIN_BEAM = 64;
  private static final int MIN_FRESH = 32;

  /**
   * Returns the shape of an item, or null if no kernel supports it.
   *
   * @param beam capacity of the worklist
   * @param stride slots of an adjacency row
   * @param parents nodes expanded in a step
   * @param entryPoints number of ordinals from which the walk starts in addition to the medoid
   */
  public static WalkShape of(
      Reads reads,
      int dimension,
      int subspaces,
      int beam,
      int stride,
      int parents,
      int entryPoints,
      boolean expanded) {
    long fresh = Math.max((long) stride * parents, entryPoints + 1L);
    int codes = reads == Reads.CODES ? subspaces : 0;
    if (dimension > Limits.MAX_DIMENSION
        || codes > Limits.MAX_SUBSPACES
        || (reads == Reads.CODES && codes < 1)
        || beam > Limits.MAX_BEAM_WIDTH
        || stride > Limits.MAX_DEGREE
        || parents > Limits.MAX_PARENTS
        || fresh > MAX_FRESH) {
      return null;
    }
    return new WalkShape(
        reads,
        Math.min(powerOfTwo(Math.max(beam, MIN_BEAM)), Limits.MAX_BEAM_WIDTH),
        powerOfTwo(Math.max((int) fresh, MIN_FRESH)),
        SharedLayout.up16(dimension),
        codes,
        expanded);
  }

  /** Returns the number of a step's neighbours that an item needs room for. */
  public static int fresh(int stride, int parents, int entryPoints) {
    return (Math.max(stride * parents, entryPoints + 1) + 31) & ~31;
  }

  /** Returns the smallest power of two that is at least {@code value}. */
  static int powerOfTwo(int value) {
    return Integer.highestOneBit(Math.max(1, value * 2 - 1));
  }

  /** The representation of vectors that a walk reads. */
  public enum Reads {
    /** Vectors of 32-bit floats. */
    FLOAT32,
    /** Vectors of 16-bit floats. */
    FLOAT16,
    /** Vectors of bytes. */
    BYTE,
    /** Product-quantization codes. */
    CODES
  }
}
