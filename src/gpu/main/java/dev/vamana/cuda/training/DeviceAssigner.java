package dev.vamana.cuda.training;

import dev.vamana.cuda.kernel.BuildLayouts.KMeansLayout;
import dev.vamana.pq.RowSource;
import dev.vamana.vectors.ArrayCopy;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Finds the nearest of any number of centroids on the device, with the kernels that assign rows in
 * training. For one thread.
 */
public final class DeviceAssigner extends FedRows {

  // number and squared distance of a row's centroid; all numbers lie before all distances
  private static final int FOUND_BYTES = Integer.BYTES + Float.BYTES;

  /** Allocates memory and copies the centroids. The calling thread holds the device's lock. */
  DeviceAssigner(TrainingDevice device, float[][] centroids) {
    super(
        device,
        (long) centroids.length * centroids[0].length * Float.BYTES,
        host -> copy(centroids, host),
        centroids[0].length,
        FOUND_BYTES);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.SUBSPACES, 1);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.K, centroids.length);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.MAX_LENGTH, centroids[0].length);
  }

  private static void copy(float[][] centroids, MemorySegment host) {
    long at = 0;
    for (float[] centroid : centroids) {
      ArrayCopy.toMemory(centroid, 0, host, at, centroid.length);
      at += (long) centroid.length * Float.BYTES;
    }
  }

  /**
   * Finds the nearest centroids of rows {@code 0 <= row < count}.
   *
   * @param target receives their numbers
   * @param distances receives the squared distances to them
   * @param workers threads that read the rows
   * @throws IOException from {@code source} or {@code abort}, unchanged
   * @throws dev.vamana.cuda.driver.GpuException if the device fails
   */
  public void assign(
      RowSource source,
      int count,
      int[] target,
      float[] distances,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    Answers nearest =
        (found, first, number) -> {
          ArrayCopy.toArray(found, 0, target, first, number);
          long after = (long) number * Integer.BYTES;
          ArrayCopy.toArray(found, after, distances, first, number);
        };
    run(source, count, nearest, workers, abort);
  }

  @Override
  void place(long address, int count) {
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.ASSIGNED, address);
    parameters.set(
        ValueLayout.JAVA_LONG, KMeansLayout.ERRORS, address + (long) count * Integer.BYTES);
  }
}
