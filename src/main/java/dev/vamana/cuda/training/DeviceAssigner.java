package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.KMeansLayout;
import dev.vamana.cuda.memory.BounceBuffers;
import dev.vamana.pq.RowSource;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Finds the nearest of any number of centroids on the device, with the kernels that assign rows in
 * training. For one thread.
 */
public final class DeviceAssigner implements DeviceResource {

  // number and squared distance of a row's centroid; all numbers lie before all distances
  private static final int FOUND_BYTES = Integer.BYTES + Float.BYTES;

  private final TrainingDevice device;
  private final int dims;
  // rows that fit a buffer together with what is found
  private final int together;
  private final Block block;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment parameters = arena.allocate(KMeansLayout.BYTES, Long.BYTES);
  private final long[] rows = new long[RowFeed.COUNT];
  private final long[] found = new long[RowFeed.COUNT];

  /** Allocates memory and copies the centroids. The calling thread holds the device's lock. */
  DeviceAssigner(TrainingDevice device, float[][] centroids) {
    this.device = device;
    this.dims = centroids[0].length;
    this.together = RowFeed.rowsTogether(dims * Float.BYTES + FOUND_BYTES);
    long centroidBytes = (long) centroids.length * dims * Float.BYTES;
    long rowBytes = (long) together * dims * Float.BYTES;
    long foundBytes = (long) together * FOUND_BYTES;
    CudaDriver driver = device.driver();
    int buffers = device.buffers();
    this.block =
        new Block(
            driver,
            device.budget(),
            Block.padded(centroidBytes)
                + buffers * (Block.padded(rowBytes) + Block.padded(foundBytes)));
    try {
      long address = block.take(centroidBytes);
      for (int i = 0; i < buffers; i++) {
        rows[i] = block.take(rowBytes);
        found[i] = block.take(foundBytes);
      }
      try (Arena copied = Arena.ofConfined()) {
        MemorySegment host = copied.allocate(centroidBytes, Float.BYTES);
        for (int i = 0; i < centroids.length; i++) {
          long at = (long) i * dims * Float.BYTES;
          MemorySegment.copy(centroids[i], 0, host, ValueLayout.JAVA_FLOAT, at, dims);
        }
        long stream = device.stream();
        driver.copyToDevice(address, host, stream);
        driver.synchronize(stream);
      }
      parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.CENTROIDS, address);
    } catch (Throwable e) {
      close();
      throw e;
    }
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.CAPACITY, together);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.DIMS, dims);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.SUBSPACES, 1);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.K, centroids.length);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.ROW_STRIDE, dims * Float.BYTES);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.MAX_LENGTH, dims);
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
    RowFeed.Sender sender = (lane, first, number) -> assign(lane, number, target, distances, first);
    device.feed(source, count, dims, together, sender, workers, abort);
  }

  /** Assigns the rows in a buffer. What is found is copied when the buffer is done. */
  private void assign(
      BounceBuffers.Lane lane, int count, int[] target, float[] distances, int first) {
    CudaDriver driver = device.driver();
    int number = lane.number();
    long rowBytes = (long) count * dims * Float.BYTES;
    long numberBytes = (long) count * Integer.BYTES;
    driver.copyToDevice(rows[number], lane.buffer().asSlice(0, rowBytes), lane.stream());
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.ROWS, rows[number]);
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.ASSIGNED, found[number]);
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.ERRORS, found[number] + numberBytes);
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.COUNT, count);
    device.launcher().assign(parameters, false, lane.stream());
    MemorySegment copied = lane.buffer().asSlice(rowBytes, (long) count * FOUND_BYTES);
    driver.copyFromDevice(copied, found[number], lane.stream());
    lane.after(
        () -> {
          MemorySegment.copy(copied, ValueLayout.JAVA_INT, 0, target, first, count);
          MemorySegment.copy(copied, ValueLayout.JAVA_FLOAT, numberBytes, distances, first, count);
        });
  }

  /** Frees the memory. */
  @Override
  public void close() {
    try {
      device.bound(block::close);
    } finally {
      arena.close();
    }
  }
}
