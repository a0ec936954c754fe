package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Objects;

/**
 * The centroids of a product quantizer: 256 a subspace. Immutable and safe for use by many threads.
 *
 * <p>Centroids are kept subspace-major: for each subspace {@code s} in order, 256 rows of {@code
 * layout.length(s)} floats. Row {@code c} of subspace {@code s} starts at {@code 256 *
 * layout.offset(s) + c * layout.length(s)}; the whole is {@code 256 * dims} floats.
 */
public final class Codebook {

  /** Number of centroids of a subspace: what one byte can name. */
  public static final int CENTROIDS = 256;

  private final CodebookId id;
  private final SubspaceLayout layout;
  private final float[] centroids;
  // Transposed copy for encoding and distance tables. Made on first use: a codebook that only
  // travels through a merge
  // never needs it. Two threads may both make it; they make equal ones.
  private volatile float[][] columns;

  /**
   * Wraps trained centroids.
   *
   * @param id identity of the codebook
   * @param layout subspaces
   * @param centroids {@code 256 * layout.dims()} floats in the order described above; not copied,
   *     must not be changed afterwards
   * @throws IllegalArgumentException if {@code centroids} has another length
   */
  public Codebook(CodebookId id, SubspaceLayout layout, float[] centroids) {
    this.id = Objects.requireNonNull(id, "id");
    this.layout = Objects.requireNonNull(layout, "layout");
    int expected = CENTROIDS * layout.dims();
    if (centroids.length != expected) {
      throw new IllegalArgumentException(
          "centroids must have "
              + expected
              + " elements for "
              + layout.dims()
              + " dims, got "
              + centroids.length);
    }
    this.centroids = centroids;
  }

  /** The identity. */
  public CodebookId id() {
    return id;
  }

  /** The subspaces. */
  public SubspaceLayout layout() {
    return layout;
  }

  /**
   * All centroids, subspace-major as described above. This is the codebook's own array: read only.
   */
  public float[] centroids() {
    return centroids;
  }

  /**
   * Encodes one vector: the nearest centroid of every subspace in squared Euclidean distance, the
   * lowest ordinal of those at equal distance. Allocates scratch; use a {@link PqEncoder} for many
   * vectors.
   *
   * @param vector {@code dims} floats
   * @param code receives {@code layout().count()} bytes from {@code offset} on
   */
  public void encode(float[] vector, byte[] code, int offset) {
    new PqEncoder(this).encode(vector, code, offset);
  }

  /**
   * Writes the vector that a code stands for: the concatenation of its centroids.
   *
   * @param code holds {@code layout().count()} bytes from {@code offset} on
   * @param vector receives {@code dims} floats
   */
  public void decode(byte[] code, int offset, float[] vector) {
    Objects.checkFromIndexSize(offset, layout.count(), code.length);
    for (int s = 0; s < layout.count(); s++) {
      int length = layout.length(s);
      int from = layout.offset(s);
      int row = CENTROIDS * from + (code[offset + s] & 0xFF) * length;
      System.arraycopy(centroids, row, vector, from, length);
    }
  }

  /**
   * Mean squared quantization error over a sample: the average of {@code |x -
   * decode(encode(x))|^2}, in the squared unit of the vectors. An empty sample has error 0.
   *
   * @param sample vectors of the codebook's dimension
   * @param abort called regularly
   * @throws IllegalArgumentException if the sample has another dimension
   */
  public double quantizationError(TrainingSample sample, AbortCheck abort) throws IOException {
    return quantizationError(sample, Workers.callingThread(), abort);
  }

  /**
   * The same by several threads; the result does not depend on how many.
   *
   * @param workers encode the sample
   */
  public double quantizationError(TrainingSample sample, Workers workers, AbortCheck abort)
      throws IOException {
    if (sample.dims() != layout.dims()) {
      throw new IllegalArgumentException(
          "sample must have " + layout.dims() + " dims, got " + sample.dims());
    }
    float[] errors = new float[sample.size()];
    workers.forEach(
        0,
        errors.length,
        () -> {
          TrainingSample own;
          synchronized (sample) {
            own = sample.copy();
          }
          PqEncoder encoder = new PqEncoder(this);
          float[] vector = new float[layout.dims()];
          byte[] code = new byte[layout.count()];
          return i -> {
            own.vector(i, vector);
            errors[i] = encoder.encode(vector, code, 0);
          };
        },
        abort);
    double sum = 0;
    for (float error : errors) {
      sum += error;
    }
    return errors.length == 0 ? 0 : sum / errors.length;
  }

  /**
   * The centroids as columns: element {@code [d][c]} is component {@code d} of centroid {@code c};
   * read only.
   */
  float[][] columns() {
    float[][] result = columns;
    if (result == null) {
      result = transpose();
      columns = result;
    }
    return result;
  }

  private float[][] transpose() {
    float[][] result = new float[layout.dims()][CENTROIDS];
    for (int s = 0; s < layout.count(); s++) {
      int from = layout.offset(s);
      int length = layout.length(s);
      int position = CENTROIDS * from;
      for (int c = 0; c < CENTROIDS; c++) {
        for (int d = 0; d < length; d++) {
          result[from + d][c] = centroids[position++];
        }
      }
    }
    return result;
  }

  @Override
  public String toString() {
    return "Codebook[" + id + ", " + layout + "]";
  }
}
