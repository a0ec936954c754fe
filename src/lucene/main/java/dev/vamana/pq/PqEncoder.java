package dev.vamana.pq;

import java.util.Objects;

/** Encodes vectors with a codebook. It holds scratch memory, so each thread needs an instance. */
public final class PqEncoder {

  private final SubspaceLayout layout;
  private final float[][] columns;
  private final float[] distances = new float[Codebook.CENTROIDS];
  private final float[] scratch = new float[Codebook.CENTROIDS / 2];

  /** Makes an encoder for {@code codebook}. */
  public PqEncoder(Codebook codebook) {
    this.layout = codebook.layout();
    this.columns = codebook.columns();
  }

  /**
   * Encodes one vector: for every subspace the nearest centroid in squared Euclidean distance, the
   * lowest ordinal of equally near ones. A sub-vector with NaN gets an arbitrary centroid.
   *
   * @param vector {@code dims} floats
   * @param code receives one byte per subspace from {@code offset} on
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
   * Encodes several vectors, subspace by subspace, so that a subspace's centroids stay in the
   * first-level cache. It pays for codebooks larger than the second-level cache, and hardly for
   * smaller ones; 16 to 64 vectors are enough.
   *
   * @param vectors {@code n} rows of {@code dims} floats
   * @param n number of vectors
   * @param codes receives {@code n} codes of one byte per subspace from {@code offset} on
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
