package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import java.io.IOException;

/**
 * Measures whether a codebook still fits vectors on which it was not trained, for instance the
 * vectors of a merged segment.
 *
 * <p>A quantization error depends on how much the vectors vary, so it is compared with the error of
 * a codebook trained on these vectors. A few subspaces are enough: they are trained on one half of
 * the sample, and both codebooks are measured on the other half.
 */
public final class CodebookFit {

  /**
   * The largest {@link #errorRatio} at which a codebook should be kept. It is valid only for
   * samples of 20,000 vectors ({@link PqTrainer#sampleSize}): with smaller samples the fresh
   * codebook is worse, and the ratio of the same codebook lower. It limits the error and does not
   * promise a recall, which the ratio predicts poorly (docs/internals/pq.md).
   */
  public static final double KEEP_RATIO = 1.03;

  private static final int PROBES = 8;
  private static final int ABORT_INTERVAL = 1024;

  private CodebookFit() {}

  /**
   * Returns the mean squared error of {@code codebook} divided by the error of a freshly trained
   * codebook: about 1 if the vectors have not changed, and larger the worse it fits. Costs a
   * fraction of a training, at most 8 subspaces on half of the sample. Deterministic for a sample
   * and seed.
   *
   * @param codebook the codebook to judge
   * @param sample the vectors that it would encode, in random order; small samples favour the old
   *     codebook
   * @param seed seed of the trial training
   * @param abort called regularly
   * @return the ratio, at least 0; infinite if only the fresh codebook reproduces the sample
   *     exactly, and 1 if both do or the sample has fewer than 2 vectors
   * @throws IllegalArgumentException if the sample has another dimension
   */
  public static double errorRatio(
      Codebook codebook, TrainingSample sample, long seed, AbortCheck abort) throws IOException {
    SubspaceLayout layout = codebook.layout();
    if (sample.dims() != layout.dims()) {
      throw new IllegalArgumentException(
          "sample must have " + layout.dims() + " dims, got " + sample.dims());
    }
    int n = sample.size();
    float[] rows = new float[Math.multiplyExact(n, layout.maxLength())];
    int trained = n / 2;
    float[] trainingRows = new float[trained * layout.maxLength()];
    KMeans kMeans = new KMeans(layout.maxLength(), PqTrainer.Options.defaults(seed), abort);
    float[] fresh = new float[Codebook.CENTROIDS * layout.maxLength()];
    double oldError = 0;
    double freshError = 0;
    int probes = Math.min(PROBES, layout.count());
    for (int p = 0; p < probes && n >= 2; p++) {
      int s = (2 * p + 1) * layout.count() / (2 * probes);
      int length = layout.length(s);
      sample.subspace(layout.offset(s), length, rows);
      System.arraycopy(rows, 0, trainingRows, 0, trained * length);
      kMeans.train(trainingRows, trained, length, seed + s, fresh, 0);
      int at = Codebook.CENTROIDS * layout.offset(s);
      oldError += error(codebook.centroids(), at, rows, trained, n, length, abort);
      freshError += error(fresh, 0, rows, trained, n, length, abort);
    }
    return oldError == freshError ? 1 : oldError / freshError;
  }

  /**
   * Returns the squared error of the rows {@code [from, to)} with the 256 centroids that start at
   * {@code at}.
   */
  private static double error(
      float[] centroids, int at, float[] rows, int from, int to, int length, AbortCheck abort)
      throws IOException {
    float[][] columns = new float[length][Codebook.CENTROIDS];
    for (int c = 0; c < Codebook.CENTROIDS; c++) {
      for (int d = 0; d < length; d++) {
        columns[d][c] = centroids[at + c * length + d];
      }
    }
    float[] distances = new float[Codebook.CENTROIDS];
    float[] scratch = new float[Codebook.CENTROIDS / 2];
    double sum = 0;
    for (int i = from; i < to; i++) {
      if (i % ABORT_INTERVAL == 0) {
        abort.check();
      }
      CentroidKernels.squaredDistances(columns, 0, length, rows, i * length, distances);
      sum += distances[CentroidKernels.argmin(distances, scratch)];
    }
    return sum;
  }
}
