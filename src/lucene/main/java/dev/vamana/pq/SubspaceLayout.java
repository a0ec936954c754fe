package dev.vamana.pq;

/**
 * The division of a vector's dimensions into the contiguous subspaces of a product quantizer.
 *
 * <p>With {@code dims = q * m + r}, the first {@code r} subspaces have {@code q + 1} dimensions and
 * the others {@code q}, so any number of subspaces works with any dimension.
 */
public final class SubspaceLayout {

  /** The largest supported vector dimension. */
  public static final int MAX_DIMS = 4096;

  /** The largest supported number of subspaces, which is also the longest code in bytes. */
  public static final int MAX_SUBSPACES = 256;

  private final int dims;
  private final int count;
  private final int shortLength;
  private final int longCount;

  /**
   * Splits {@code dims} dimensions into {@code subspaces} parts.
   *
   * @param dims vector dimension, 1 to 4,096
   * @param subspaces number of subspaces, 1 to min(dims, 256)
   * @throws IllegalArgumentException if an argument is out of its range
   */
  public SubspaceLayout(int dims, int subspaces) {
    checkDims(dims);
    int limit = Math.min(dims, MAX_SUBSPACES);
    if (subspaces < 1 || subspaces > limit) {
      throw new IllegalArgumentException(
          "subspaces must be between 1 and " + limit + " for " + dims + " dims, got " + subspaces);
    }
    this.dims = dims;
    this.count = subspaces;
    this.shortLength = dims / subspaces;
    this.longCount = dims % subspaces;
  }

  /** Returns the vector dimension. */
  public int dims() {
    return dims;
  }

  /** Returns the number of subspaces, which is the number of bytes of a code. */
  public int count() {
    return count;
  }

  /** Returns the first dimension of subspace {@code s}, 0 &lt;= s &lt; count. */
  public int offset(int s) {
    checkSubspace(s);
    return s * shortLength + Math.min(s, longCount);
  }

  /** Returns the number of dimensions of subspace {@code s}, 0 &lt;= s &lt; count; at least 1. */
  public int length(int s) {
    checkSubspace(s);
    return s < longCount ? shortLength + 1 : shortLength;
  }

  /** Returns the number of dimensions of the longest subspace. */
  public int maxLength() {
    return longCount > 0 ? shortLength + 1 : shortLength;
  }

  /**
   * Returns the default number of subspaces: one for every 4 dimensions up to 256 dimensions, and
   * one for every 8 beyond, but at least 64 and at most 256.
   *
   * @param dims vector dimension, 1 to 4,096
   */
  public static int defaultSubspaces(int dims) {
    checkDims(dims);
    if (dims <= 256) {
      return Math.max(1, (dims + 3) / 4);
    }
    return Math.min(MAX_SUBSPACES, Math.max(64, (dims + 7) / 8));
  }

  private static void checkDims(int dims) {
    if (dims < 1 || dims > MAX_DIMS) {
      throw new IllegalArgumentException(
          "dims must be between 1 and " + MAX_DIMS + ", got " + dims);
    }
  }

  private void checkSubspace(int s) {
    if (s < 0 || s >= count) {
      throw new IndexOutOfBoundsException("subspace " + s + " of " + count);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SubspaceLayout that && dims == that.dims && count == that.count;
  }

  @Override
  public int hashCode() {
    return dims * 31 + count;
  }

  @Override
  public String toString() {
    return "SubspaceLayout[dims=" + dims + ", subspaces=" + count + "]";
  }
}
