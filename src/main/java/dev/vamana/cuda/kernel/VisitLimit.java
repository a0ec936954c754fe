package dev.vamana.cuda.kernel;

/** The most distances of a walk, as the kernels read it. */
public final class VisitLimit {

  /** A visit limit that ends no walk; unsigned. */
  public static final int NONE = -1;

  private VisitLimit() {}

  /**
   * Returns the visit limit of a walk.
   *
   * @param limit most distances, as the caller wants it
   * @param size vectors of the segment
   * @return the limit, or {@link #NONE} if it allows a distance for every vector
   */
  public static int of(long limit, int size) {
    return limit < size ? (int) Math.max(0, limit) : NONE;
  }
}
