package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;

/**
 * Does the arithmetic of product quantization in place of {@link PqTrainer} and {@link PqEncoder},
 * for instance on a GPU. It may decline any piece of work, because that is too small, because there
 * is no memory for it or because something failed; the CPU does such work then. Thread-safe.
 */
public interface PqEngine {

  /** Declines everything. */
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
      };

  /**
   * Finds the centroids that {@link PqTrainer} finds, from the same random numbers: sums may be
   * rounded otherwise, so that centroids differ in their last bits.
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
   * @param vectors about how many will be encoded
   * @param workers threads that read them
   * @param abort called regularly
   * @return an encoder for one thread, or null if declined
   */
  Encoder encoder(Codebook codebook, int vectors, Workers workers, AbortCheck abort)
      throws IOException;

  /** Encodes vectors, for one thread. */
  interface Encoder extends Closeable {

    /**
     * Writes the codes that {@link PqEncoder} gives.
     *
     * @param rows the vectors
     * @param count how many of them, from 0 on; at least 1
     * @param codes receives {@code count} codes from its beginning on
     * @return false if that was declined, now and from now on; {@code codes} may hold anything then
     * @throws IOException from {@code rows} or the abort check, unchanged
     */
    boolean encode(RowSource rows, int count, byte[] codes) throws IOException;

    @Override
    void close();
  }
}
