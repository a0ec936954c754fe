package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;

/**
 * Trains codebooks, encodes vectors and finds nearest centroids in place of {@link PqTrainer},
 * {@link PqEncoder} and {@link NearestCentroids}, for instance on a GPU. It may decline any work,
 * because the work is too small, memory is missing or something failed; the CPU then does the work.
 * Thread-safe.
 */
public interface PqEngine {

  /** An engine that declines all work. */
  PqEngine NONE =
      new PqEngine() {
        @Override
        public float[] train(
            TrainingSample sample,
            SubspaceLayout layout,
            PqTrainer.Options options,
            Workers workers,
            AbortCheck abort) {
          return null;
        }

        @Override
        public Encoder encoder(Codebook codebook, int vectors, Workers workers, AbortCheck abort) {
          return null;
        }

        @Override
        public Assigner assigner(
            float[][] centroids, int vectors, Workers workers, AbortCheck abort) {
          return null;
        }
      };

  /**
   * Finds the centroids that {@link PqTrainer} finds, from the same random numbers. Sums may be
   * rounded differently, so centroids may differ in their last bits.
   *
   * @param sample vectors of the layout's dimension
   * @param workers threads that read the sample
   * @param abort called at least once an iteration
   * @return centroids in the order of {@link Codebook}, or null if declined
   * @throws IOException from {@code sample} or {@code abort}, unchanged
   */
  float[] train(
      TrainingSample sample,
      SubspaceLayout layout,
      PqTrainer.Options options,
      Workers workers,
      AbortCheck abort)
      throws IOException;

  /**
   * Prepares to encode vectors.
   *
   * @param vectors estimated number of vectors
   * @param workers threads that read the vectors
   * @param abort called regularly
   * @return an encoder for one thread, or null if declined
   */
  Encoder encoder(Codebook codebook, int vectors, Workers workers, AbortCheck abort)
      throws IOException;

  /**
   * Prepares to find the nearest centroids of vectors.
   *
   * @param centroids at least one, all of the same dimension
   * @param vectors estimated number of vectors
   * @param workers threads that read the vectors
   * @param abort called regularly
   * @return an assigner for one thread, or null if declined
   */
  Assigner assigner(float[][] centroids, int vectors, Workers workers, AbortCheck abort)
      throws IOException;

  /** Finds nearest centroids, for one thread. */
  interface Assigner extends Closeable {

    /**
     * Finds what {@link NearestCentroids} finds.
     *
     * @param rows the vectors
     * @param count number of vectors, from row 0 on; at least 1
     * @param found receives {@code count} numbers of centroids
     * @param distances receives the squared distances to them
     * @return false if declined, for this and all later calls; the contents of the arrays are then
     *     undefined
     * @throws IOException from {@code rows} or the abort check, unchanged
     */
    boolean assign(RowSource rows, int count, int[] found, float[] distances) throws IOException;

    @Override
    void close();
  }

  /** Encodes vectors, for one thread. */
  interface Encoder extends Closeable {

    /**
     * Writes the codes that {@link PqEncoder} would write.
     *
     * @param rows the vectors
     * @param count number of vectors, from row 0 on; at least 1
     * @param codes receives {@code count} codes from position 0 on
     * @return false if declined, for this and all later calls; the contents of {@code codes} are
     *     then undefined
     * @throws IOException from {@code rows} or the abort check, unchanged
     */
    boolean encode(RowSource rows, int count, byte[] codes) throws IOException;

    @Override
    void close();
  }
}
