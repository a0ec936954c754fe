package dev.vamana.ivf;

import dev.vamana.pq.PqEngine;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.TrainingSample;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;

/**
 * Trains the centroids of lists by k-means (Lloyd's algorithm) over a sample, which is read from
 * the mapped file again in each iteration. The first iterations see a part of the sample. The
 * result depends on the sample alone, not on the number of threads.
 *
 * <p>It keeps on the heap 4 bytes for each component of all centroids, and 12 bytes for each vector
 * of the sample.
 */
final class CentroidTrainer {

  /** Vectors of the sample for each list. */
  static final int SAMPLE_OF_LIST = 40;

  private static final int PART_ITERATIONS = 5;
  private static final int PART = 4;
  private static final int ITERATIONS = 3;

  // lists whose means a thread computes before it takes others
  private static final int TOGETHER = 4;

  private final TrainingSample sample;
  // declines all work once it has declined some
  private PqEngine engine;
  private final Workers workers;
  private final AbortCheck abort;
  private final float[][] centroids;
  private final int[] assigned;
  private final float[] distances;
  // rows by centroid, in the order of the sample
  private final int[] members;

  /**
   * Makes a trainer.
   *
   * @param sample vectors in random order, at least as many as lists
   * @param lists number of centroids, at least 1
   * @param engine finds the nearest centroids, or declines
   */
  CentroidTrainer(
      TrainingSample sample, int lists, PqEngine engine, Workers workers, AbortCheck abort) {
    if (sample.size() < lists) {
      throw new IllegalArgumentException(
          "sample must have at least " + lists + " vectors, got " + sample.size());
    }
    this.sample = sample;
    this.engine = engine;
    this.workers = workers;
    this.abort = abort;
    this.centroids = new float[lists][sample.dims()];
    this.assigned = new int[sample.size()];
    this.distances = new float[sample.size()];
    this.members = new int[sample.size()];
  }

  /** Returns the centroids, one row of the sample's dimension for each list. */
  float[][] train() throws IOException {
    for (int list = 0; list < centroids.length; list++) {
      sample.vector(list, centroids[list]);
    }
    int part = Math.max(centroids.length, sample.size() / PART);
    for (int i = 0; i < PART_ITERATIONS; i++) {
      iterate(part);
    }
    for (int i = 0; i < ITERATIONS; i++) {
      iterate(sample.size());
    }
    return centroids;
  }

  private void iterate(int rows) throws IOException {
    RowSource source =
        () -> {
          TrainingSample own = ownSample();
          return own::vector;
        };
    try (Assigner assigner = new Assigner(centroids, sample.size(), engine, workers, abort)) {
      assigner.assign(source, rows, assigned, distances);
      engine = assigner.declined() ? PqEngine.NONE : engine;
    }
    move(rows);
  }

  /** Moves each centroid to the mean of its rows, and an empty one to the row worst served. */
  private void move(int rows) throws IOException {
    int[] starts = new int[centroids.length + 1];
    for (int i = 0; i < rows; i++) {
      starts[assigned[i] + 1]++;
    }
    for (int list = 0; list < centroids.length; list++) {
      starts[list + 1] += starts[list];
    }
    int[] next = Arrays.copyOf(starts, centroids.length);
    for (int i = 0; i < rows; i++) {
      members[next[assigned[i]]++] = i;
    }
    workers.forEach(
        0,
        centroids.length,
        TOGETHER,
        () -> {
          TrainingSample own = ownSample();
          float[] row = new float[sample.dims()];
          return list -> average(own, starts[list], starts[list + 1], row, centroids[list]);
        },
        abort);
    for (int list = 0; list < centroids.length; list++) {
      if (starts[list] == starts[list + 1]) {
        int worst = 0;
        for (int i = 1; i < rows; i++) {
          worst = distances[i] > distances[worst] ? i : worst;
        }
        sample.vector(worst, centroids[list]);
        distances[worst] = 0;
      }
    }
  }

  /** Sets a centroid to the mean of its members, added up in the order of the sample. */
  private void average(TrainingSample own, int from, int to, float[] row, float[] centroid)
      throws IOException {
    if (from == to) {
      return;
    }
    Arrays.fill(centroid, 0);
    float share = 1f / (to - from);
    for (int i = from; i < to; i++) {
      own.vector(members[i], row);
      for (int d = 0; d < row.length; d++) {
        centroid[d] += row[d] * share;
      }
    }
  }

  private TrainingSample ownSample() throws IOException {
    synchronized (sample) {
      return sample.copy();
    }
  }
}
