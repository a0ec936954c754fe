package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansLayout;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansSizes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Launches the k-means kernels, each with as many blocks as its work needs. For one thread. {@link
 * TrainingDevice} has one.
 */
final class Launcher {

  private static final int THREADS = 256;
  private static final int DRAW_THREADS = 1024;
  private static final int SCAN_THREADS = 512;
  private static final int WARP = 32;
  private static final int NEAR_THREADS = 64;
  private static final int MOST_STRIDING_BLOCKS = 8192;
  private static final int[] SHORT_LENGTHS = {4, 8, 16};
  private static final int SHORT_SHARED_BYTES = 32 << 10;

  private final CudaDriver driver;

  Launcher(CudaDriver driver) {
    this.driver = driver;
  }

  /**
   * Returns the length to which the kernels for short sub-vectors pad, or 0 if they do not apply.
   */
  static int shortLength(int longest, int k) {
    for (int length : SHORT_LENGTHS) {
      if (longest <= length && k * length * Float.BYTES <= SHORT_SHARED_BYTES) {
        return length;
      }
    }
    return 0;
  }

  /** As {@link #shortLength(int, int)}, for the parameters {@code p}. */
  private static int shortLength(MemorySegment p) {
    return shortLength(get(p, KMeansLayout.MAX_LENGTH), get(p, KMeansLayout.K));
  }

  private static int get(MemorySegment p, long field) {
    return p.get(ValueLayout.JAVA_INT, field);
  }

  /** Finds the nearest centroid of all rows. */
  void assign(MemorySegment p, long stream) {
    int subspaces = get(p, KMeansLayout.SUBSPACES);
    int k = get(p, KMeansLayout.K);
    int length = shortLength(p);
    if (length > 0) {
      long blocks = of(p, KMeansSizes.SHORT_ROWS) * subspaces;
      launch("kmeans_assign_" + length, blocks, THREADS, k * length * Float.BYTES, p, stream);
    } else {
      long blocks = of(p, KMeansSizes.TILE_ROWS) * subspaces;
      launch("kmeans_assign_tile", blocks, THREADS, 0, p, stream);
    }
  }

  /** Moves centroids to the means of their rows, and draws new ones for empty clusters. */
  void update(MemorySegment p, long stream) {
    int subspaces = get(p, KMeansLayout.SUBSPACES);
    int k = get(p, KMeansLayout.K);
    long chunks = of(p, KMeansSizes.CHUNK) * subspaces;
    long count = p.get(ValueLayout.JAVA_LONG, KMeansLayout.COUNT);
    long parts = (count / KMeansSizes.PART + k) * subspaces;
    launch("kmeans_count", chunks, THREADS, 0, p, stream);
    launch("kmeans_place", subspaces, SCAN_THREADS, 0, p, stream);
    launch("kmeans_sort", chunks, WARP, 0, p, stream);
    launch("kmeans_sum", parts, THREADS, 0, p, stream);
    launch("kmeans_move", striding((long) k * get(p, KMeansLayout.DIMS)), THREADS, 0, p, stream);
    p.set(ValueLayout.JAVA_INT, KMeansLayout.FIRST, 0);
    launch("kmeans_fill", subspaces, DRAW_THREADS, 0, p, stream);
    launch("kmeans_finish", subspaces, SCAN_THREADS, 0, p, stream);
  }

  /** Draws all centroids from the rows. */
  void seed(MemorySegment p, long stream) {
    int subspaces = get(p, KMeansLayout.SUBSPACES);
    if (shortLength(p) > 0) {
      p.set(ValueLayout.JAVA_INT, KMeansLayout.FIRST, 1);
      launch("kmeans_fill", subspaces, DRAW_THREADS, 0, p, stream);
      return;
    }
    long components = p.get(ValueLayout.JAVA_LONG, KMeansLayout.COUNT) * get(p, KMeansLayout.DIMS);
    launch("kmeans_gather", striding(components), THREADS, 0, p, stream);
    for (int step = 0; step < get(p, KMeansLayout.K); step++) {
      p.set(ValueLayout.JAVA_INT, KMeansLayout.STEP, step);
      launch("kmeans_draw", subspaces, DRAW_THREADS, 0, p, stream);
      launch("kmeans_near", of(p, NEAR_THREADS) * subspaces, NEAR_THREADS, 0, p, stream);
    }
  }

  /** Returns the number of blocks of a grid-stride kernel. */
  private static long striding(long elements) {
    return Math.min(MOST_STRIDING_BLOCKS, (elements + THREADS - 1) / THREADS);
  }

  /** Returns the number of groups of {@code size} rows. */
  private static long of(MemorySegment p, int size) {
    return (p.get(ValueLayout.JAVA_LONG, KMeansLayout.COUNT) + size - 1) / size;
  }

  private void launch(
      String name, long blocks, int threads, int shared, MemorySegment p, long stream) {
    driver.launch(driver.kernel(name), Math.toIntExact(blocks), threads, shared, p, stream);
  }
}
