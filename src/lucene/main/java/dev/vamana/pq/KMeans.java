package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Lloyd's k-means with 256 centroids over the sub-vectors of one subspace. It holds scratch memory;
 * one thread uses an instance for one subspace after the other.
 *
 * <p>The rows are shuffled, and training works on growing prefixes of them: each level doubles the
 * number of rows and starts from the centroids of the last level. So centroids move mostly on few
 * rows, and the last level, on all rows, needs few iterations. Centroids start as k-means++ seeds
 * of a small prefix (Arthur and Vassilvitskii: each seed is drawn with probability proportional to
 * the squared distance to the nearest earlier seed). Empty clusters are seeded again by the same
 * rule.
 *
 * <p>The result depends only on the rows, their order and the seed.
 */
final class KMeans {

  private static final int CENTROIDS = Codebook.CENTROIDS;

  private static final int ABORT_INTERVAL = 1024;

  private final int maxLength;
  private final PqTrainer.Options options;
  private final AbortCheck abort;

  private final float[][] columns;
  private final float[] distances = new float[CENTROIDS];
  private final float[] fold = new float[CENTROIDS / 2];
  private final double[] sums;
  private final int[] counts = new int[CENTROIDS];
  private final SeedPool pool;
  private float[] errors = new float[0];

  // state of the current subspace
  private float[] rows;
  private int length;

  KMeans(int maxLength, PqTrainer.Options options, AbortCheck abort) {
    this.maxLength = maxLength;
    this.options = options;
    this.abort = abort;
    this.columns = new float[maxLength][CENTROIDS];
    this.sums = new double[CENTROIDS * maxLength];
    this.pool = new SeedPool(TrainingSchedule.POOL, maxLength);
  }

  /**
   * Finds 256 centroids.
   *
   * @param rows {@code n} rows of {@code length} floats, which are reordered
   * @param n number of rows, 0 or more; if there are fewer distinct rows than centroids, the
   *     remaining centroids repeat the first
   * @param length floats of a row, 1 to the {@code maxLength} given at construction
   * @param seed seed of all random choices except the order of the rows, which depends on the
   *     options' seed
   * @param dst receives 256 rows of {@code length} floats from {@code offset} on
   */
  void train(float[] rows, int n, int length, long seed, float[] dst, int offset)
      throws IOException {
    if (length > maxLength) {
      throw new IllegalArgumentException("length must be at most " + maxLength + ", got " + length);
    }
    this.rows = rows;
    this.length = length;
    if (errors.length < n) {
      errors = new float[n];
    }
    TrainingSchedule.shuffle(n, options.seed(), this::swap);
    for (int d = 0; d < length; d++) {
      Arrays.fill(columns[d], 0);
    }
    if (n > 0) {
      SplittableRandom random = new SplittableRandom(seed);
      seedAll(Math.min(n, TrainingSchedule.POOL), random);
      for (TrainingSchedule.Level level : TrainingSchedule.levels(n, options)) {
        refine(level.rows(), level.iterations(), random);
      }
    }
    this.rows = null;
    for (int c = 0; c < CENTROIDS; c++) {
      for (int d = 0; d < length; d++) {
        dst[offset + c * length + d] = columns[d][c];
      }
    }
  }

  /** Iterates over the first {@code n} rows. */
  private void refine(int n, int iterations, SplittableRandom random) throws IOException {
    double before = Double.POSITIVE_INFINITY;
    for (int i = 0; i < iterations; i++) {
      double error = assign(n);
      moveCentroids();
      reseedEmpty(n, random);
      if (error == 0 || error >= before * (1 - options.tolerance())) {
        return;
      }
      before = error;
    }
  }

  /**
   * Assigns each of the first {@code n} rows to its nearest centroid and sums the rows of each
   * cluster. Returns the squared error.
   */
  private double assign(int n) throws IOException {
    Arrays.fill(sums, 0, CENTROIDS * length, 0);
    Arrays.fill(counts, 0);
    double error = 0;
    for (int i = 0; i < n; i++) {
      if (i % ABORT_INTERVAL == 0) {
        abort.check();
      }
      int from = i * length;
      CentroidKernels.squaredDistances(columns, 0, length, rows, from, distances);
      int nearest = CentroidKernels.argmin(distances, fold);
      errors[i] = distances[nearest];
      error += errors[i];
      counts[nearest]++;
      int at = nearest * length;
      for (int d = 0; d < length; d++) {
        sums[at + d] += rows[from + d];
      }
    }
    return error;
  }

  private void moveCentroids() {
    for (int c = 0; c < CENTROIDS; c++) {
      if (counts[c] > 0) {
        for (int d = 0; d < length; d++) {
          columns[d][c] = (float) (sums[c * length + d] / counts[c]);
        }
      }
    }
  }

  private void seedAll(int prefix, SplittableRandom random) {
    pool.clear();
    for (int i = 0; i < prefix; i++) {
      pool.add(rows, i * length, length, Float.POSITIVE_INFINITY);
    }
    int first = (int) (random.nextDouble() * prefix);
    pool.take(first, length, columns, 0);
    for (int c = 1; c < CENTROIDS; c++) {
      int row = pool.draw(random);
      if (row < 0) {
        repeatFirst(c);
        return;
      }
      pool.take(row, length, columns, c);
    }
  }

  private void repeatFirst(int from) {
    for (int d = 0; d < length; d++) {
      Arrays.fill(columns[d], from, CENTROIDS, columns[d][0]);
    }
  }

  private void reseedEmpty(int n, SplittableRandom random) {
    boolean filled = false;
    for (int c = 0; c < CENTROIDS; c++) {
      if (counts[c] > 0) {
        continue;
      }
      if (!filled) {
        fillPoolWithErrors(n);
        filled = true;
      }
      int row = pool.draw(random);
      if (row < 0) {
        return;
      }
      pool.take(row, length, columns, c);
    }
  }

  private void fillPoolWithErrors(int n) {
    pool.clear();
    for (int i = 0; i < n && !pool.isFull(); i++) {
      if (errors[i] > 0) {
        pool.add(rows, i * length, length, errors[i]);
      }
    }
  }

  private void swap(int i, int j) {
    for (int d = 0; d < length; d++) {
      float swap = rows[i * length + d];
      rows[i * length + d] = rows[j * length + d];
      rows[j * length + d] = swap;
    }
  }
}
