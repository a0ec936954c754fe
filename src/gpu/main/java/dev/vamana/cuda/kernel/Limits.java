package dev.vamana.cuda.kernel;

/** Limits of the kernels, as in native-kernels/include/vamana/types.h. */
public final class Limits {

  /** Centroids of a subspace. */
  public static final int CENTROIDS = 256;

  /** Most slots of an adjacency row. */
  public static final int MAX_DEGREE = 128;

  /** Most subspaces of a code. */
  public static final int MAX_SUBSPACES = 256;

  /** Most components of a vector. */
  public static final int MAX_DIMENSION = 4096;

  /** Most components of vectors whose copies in bytes are the vectors themselves. */
  public static final int MAX_WHOLE_DIMENSION = 1024;

  /** Largest capacity of a worklist. */
  public static final int MAX_BEAM_WIDTH = 10_000;

  /** Most nodes expanded in one step. */
  public static final int MAX_PARENTS = 64;

  /** A visit limit that ends no walk; unsigned. */
  public static final int NO_VISIT_LIMIT = -1;

  private Limits() {}

  /**
   * Returns the most distances of a walk, as the kernels read it.
   *
   * @param limit most distances, as the caller wants it
   * @param size vectors of the segment
   * @return the limit, or {@link #NO_VISIT_LIMIT} if it allows a distance for every vector
   */
  public static int visits(long limit, int size) {
    return limit < size ? (int) Math.max(0, limit) : NO_VISIT_LIMIT;
  }
}
