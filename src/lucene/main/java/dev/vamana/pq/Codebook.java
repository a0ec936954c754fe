package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Objects;

/**
 * The centroids of a product quantizer, 256 per subspace. Immutable and thread-safe.
 *
 * <p>Centroids are stored subspace-major: for each subspace {@code s} in order, 256 rows of {@code
 * layout.length(s)} floats. Row {@code c} of subspace {@code s} starts at {@code 256 *
 * layout.offset(s) + c * layout.length(s)}; the array has {@code 256 * dims} floats.
 */
public final class Codebook {

  /** Number of centroids of a subspace: the number of values of a byte. */
  public static final int CENTROIDS = 256;

  private final CodebookId id;
  private final SubspaceLayout layout;
  private final float[] centroids;
  // A transposed copy for encoding and distance tables, made on first use, because a codebook that
  // is only copied by a merge never needs it. Two threads may both make it; the copies are equal.
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

  /** Returns the identity. */
  public CodebookId id() {
    return id;
  }

  /** Returns the subspaces. */
  public SubspaceLayout layout() {
    return layout;
  }

  /**
   * Returns all centroids, subspace-major as described above. This is the codebook's own array and
   * must not be changed.
   */
  public float[] centroids() {
    return centroids;
  }

  /**
   * Encodes one vector: for every subspace the nearest centroid in squared Euclidean distance, the
   * lowest ordinal of equally near ones. Allocates scratch memory; use a {@link PqEncoder} for many
   * vectors.
   *
   * @param vector {@code dims} floats
   * @param code receives {@code layout().count()} bytes from {@code offset} on
   */
  public void encode(float[] vector, byte[] code, int offset) {
    new PqEncoder(this).encode(vector, code, offset);
  }

  /**
   * Decodes a code to the concatenation of its centroids.
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
   * Returns the mean squared quantization error over a sample: the average of {@code |x -
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
   * As {@link #quantizationError(TrainingSample, AbortCheck)}, with several threads. The result
   * does not depend on their number.
   *
   * @param workers threads that encode the sample
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
   * Returns the centroids as columns: element {@code [d][c]} is component {@code d} of centroid
   * {@code c}. The arrays must not be changed.
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
