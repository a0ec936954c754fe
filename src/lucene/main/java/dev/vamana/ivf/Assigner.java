package dev.vamana.ivf;

import dev.vamana.pq.NearestCentroids;
import dev.vamana.pq.PqEngine;
import dev.vamana.pq.RowSource;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;

/**
 * Finds the nearest centroid of many vectors: by the engine, or on all build threads if it declines
 * the work or fails. For one thread.
 */
final class Assigner implements Closeable {

  private final float[][] centroids;
  private final Workers workers;
  private final AbortCheck abort;
  // null if the CPU does the work
  private PqEngine.Assigner engine;
  private NearestCentroids nearest;

  /**
   * Prepares to assign vectors.
   *
   * @param centroids at least one; not changed as long as this instance is used
   * @param vectors estimated number of vectors
   */
  Assigner(float[][] centroids, int vectors, PqEngine engine, Workers workers, AbortCheck abort)
      throws IOException {
    this.centroids = centroids;
    this.workers = workers;
    this.abort = abort;
    this.engine = engine.assigner(centroids, vectors, workers, abort);
  }

  /**
   * Finds the nearest centroids of rows 0 to {@code count - 1}, the lowest of equally near ones.
   *
   * @param found receives their numbers
   * @param distances receives the squared distances to them
   */
  void assign(RowSource rows, int count, int[] found, float[] distances) throws IOException {
    if (count == 0) {
      return;
    }
    if (engine != null) {
      if (engine.assign(rows, count, found, distances)) {
        return;
      }
      close();
    }
    if (nearest == null) {
      nearest = new NearestCentroids(centroids);
    }
    int together = NearestCentroids.ROWS;
    workers.forEach(
        0,
        (count + together - 1) / together,
        () -> {
          RowSource.Reader reader = rows.open();
          NearestCentroids.Finder finder = nearest.finder();
          return group -> {
            int first = group * together;
            int own = Math.min(together, count - first);
            for (int i = 0; i < own; i++) {
              reader.read(first + i, finder.row(i));
            }
            finder.find(own);
            for (int i = 0; i < own; i++) {
              found[first + i] = finder.nearest(i);
              distances[first + i] = finder.distance(i);
            }
          };
        },
        abort);
  }

  /** Whether the CPU does the work. */
  boolean declined() {
    return engine == null;
  }

  @Override
  public void close() {
    if (engine != null) {
      engine.close();
      engine = null;
    }
  }
}
