package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.KMeansLayout;
import dev.vamana.cuda.memory.BounceBuffers;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.RowSource;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Encodes vectors with a codebook on the device, with the kernels that assign rows in training. For
 * one thread.
 */
public final class DeviceEncoder implements DeviceResource {

  private final TrainingDevice device;
  private final int dims;
  private final int codeLength;
  // rows that fit a buffer together with their codes
  private final int together;
  private final Block block;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment parameters = arena.allocate(KMeansLayout.BYTES, Long.BYTES);
  private final long[] rows = new long[RowFeed.COUNT];
  private final long[] codes = new long[RowFeed.COUNT];

  /** Allocates memory and copies the codebook. The calling thread holds the device's lock. */
  DeviceEncoder(TrainingDevice device, Codebook codebook) {
    this.device = device;
    this.dims = codebook.layout().dims();
    this.codeLength = codebook.layout().count();
    this.together = RowFeed.rowsTogether(dims * Float.BYTES + codeLength);
    float[] centroids = codebook.centroids();
    long centroidBytes = (long) centroids.length * Float.BYTES;
    long rowBytes = (long) together * dims * Float.BYTES;
    long codeBytes = (long) together * codeLength;
    CudaDriver driver = device.driver();
    int buffers = device.buffers();
    this.block =
        new Block(
            driver,
            device.budget(),
            Block.padded(centroidBytes)
                + buffers * (Block.padded(rowBytes) + Block.padded(codeBytes)));
    try {
      long address = block.take(centroidBytes);
      for (int i = 0; i < buffers; i++) {
        rows[i] = block.take(rowBytes);
        codes[i] = block.take(codeBytes);
      }
      MemorySegment host = arena.allocateFrom(ValueLayout.JAVA_FLOAT, centroids);
      long stream = device.stream();
      driver.copyToDevice(address, host, stream);
      driver.synchronize(stream);
      parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.CENTROIDS, address);
    } catch (Throwable e) {
      close();
      throw e;
    }
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.DIMS, dims);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.SUBSPACES, codeLength);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.K, Codebook.CENTROIDS);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.ROW_STRIDE, dims * Float.BYTES);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.MAX_LENGTH, codebook.layout().maxLength());
  }

  /**
   * Encodes rows {@code 0 <= row < count}.
   *
   * @param target receives {@code count} codes
   * @param workers threads that read the rows
   * @throws IOException from {@code source} or {@code abort}, unchanged
   * @throws dev.vamana.cuda.driver.GpuException if the device fails
   */
  public void encode(RowSource source, int count, byte[] target, Workers workers, AbortCheck abort)
      throws IOException {
    RowFeed.Sender sender = (lane, first, number) -> encode(lane, number, target, first);
    device.feed(source, count, dims, together, sender, workers, abort);
  }

  /**
   * Encodes the rows in a buffer. The codes are copied to {@code target} when the buffer is done.
   */
  private void encode(BounceBuffers.Lane lane, int count, byte[] target, int first) {
    CudaDriver driver = device.driver();
    int number = lane.number();
    long rowBytes = (long) count * dims * Float.BYTES;
    long codeBytes = (long) count * codeLength;
    driver.copyToDevice(rows[number], lane.buffer().asSlice(0, rowBytes), lane.stream());
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.ROWS, rows[number]);
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.CODES, codes[number]);
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.COUNT, count);
    device.launcher().assign(parameters, false, lane.stream());
    MemorySegment found = lane.buffer().asSlice(rowBytes, codeBytes);
    driver.copyFromDevice(found, codes[number], lane.stream());
    lane.after(
        () ->
            MemorySegment.copy(
                found, ValueLayout.JAVA_BYTE, 0, target, first * codeLength, (int) codeBytes));
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
