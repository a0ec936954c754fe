package dev.vamana.pq;

import java.util.Objects;

/** Encodes vectors with a codebook. Carries scratch memory: one instance a thread. */
public final class PqEncoder {

  private final SubspaceLayout layout;
  private final float[][] columns;
  private final float[] distances = new float[Codebook.CENTROIDS];
  private final float[] scratch = new float[Codebook.CENTROIDS / 2];

  /** An encoder for {@code codebook}. */
  public PqEncoder(Codebook codebook) {
    this.layout = codebook.layout();
    this.columns = codebook.columns();
  }

  /**
   * Encodes one vector: the nearest centroid of every subspace in squared Euclidean distance, the
   * lowest ordinal of those at equal distance. A sub-vector with NaN gets an arbitrary centroid.
   *
   * @param vector {@code dims} floats
   * @param code receives one byte a subspace from {@code offset} on
   * @param offset position in {@code code}
   * @return the squared quantization error of this vector
   * @throws IllegalArgumentException if the vector has another dimension
   */
  public float encode(float[] vector, byte[] code, int offset) {
    if (vector.length != layout.dims()) {
      throw new IllegalArgumentException(
          "vector must have " + layout.dims() + " dims, got " + vector.length);
    }
    int count = layout.count();
    Objects.checkFromIndexSize(offset, count, code.length);
    float error = 0;
    for (int s = 0; s < count; s++) {
      int from = layout.offset(s);
      CentroidKernels.squaredDistances(columns, from, layout.length(s), vector, from, distances);
      int nearest = CentroidKernels.argmin(distances, scratch);
      code[offset + s] = (byte) nearest;
      error += distances[nearest];
    }
    return error;
  }

  /**
   * Encodes several vectors, subspace by subspace, so that the centroids of a subspace stay in the
   * nearest cache. Worth it for codebooks beyond the second-level cache, hardly below; 16 to 64
   * vectors are enough.
   *
   * @param vectors {@code n} rows of {@code dims} floats
   * @param n number of vectors
   * @param codes receives {@code n} codes of one byte a subspace from {@code offset} on
   * @param offset position in {@code codes}
   */
  public void encodeBlock(float[] vectors, int n, byte[] codes, int offset) {
    int count = layout.count();
    int dims = layout.dims();
    Objects.checkFromIndexSize(0, Math.multiplyExact(n, dims), vectors.length);
    Objects.checkFromIndexSize(offset, Math.multiplyExact(n, count), codes.length);
    for (int s = 0; s < count; s++) {
      int from = layout.offset(s);
      int length = layout.length(s);
      for (int i = 0; i < n; i++) {
        CentroidKernels.squaredDistances(
            columns, from, length, vectors, i * dims + from, distances);
        codes[offset + i * count + s] = (byte) CentroidKernels.argmin(distances, scratch);
      }
    }
  }
}
