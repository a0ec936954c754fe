package dev.vamana.pq;

import java.io.IOException;

/**
 * The vectors on which a codebook is trained, {@link #size()} rows of {@link #dims()} finite
 * floats.
 *
 * <p>The rows usually are in a mapped file; {@link #subspace} copies only the columns that a
 * training thread works on. An instance is used by one thread at a time.
 */
public interface TrainingSample {

  /** The number of sample vectors, 0 or more. */
  int size();

  /** The vector dimension. */
  int dims();

  /**
   * Copies sample vector {@code i} into the first {@link #dims()} elements of {@code dst}.
   *
   * @param i row, 0 &lt;= i &lt; size
   */
  void vector(int i, float[] dst) throws IOException;

  /**
   * Copies the components {@code [offset, offset + length)} of all sample vectors into {@code dst},
   * row-major: component {@code offset + d} of vector {@code i} goes to {@code dst[i * length +
   * d]}.
   *
   * @param dst at least {@code size() * length} elements
   */
  void subspace(int offset, int length, float[] dst) throws IOException;

  /** Returns an independent view of the same vectors for another thread. */
  TrainingSample copy() throws IOException;

  /**
   * Returns a sample of vectors on the heap, which are not copied.
   *
   * @param dims dimension of every vector
   * @param vectors rows of exactly {@code dims} elements
   * @throws IllegalArgumentException if a row has another length
   */
  static TrainingSample of(int dims, float[][] vectors) {
    return new ArrayTrainingSample(dims, vectors);
  }
}
