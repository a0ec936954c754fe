package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansLayout;
import dev.vamana.cuda.memory.BounceBuffers;
import dev.vamana.pq.RowSource;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;

/**
 * Centroids on the device, and the kernel that assigns rows to them, fed by a {@link RowFeed}.
 * {@link DeviceAssigner} and {@link DeviceEncoder} say what the kernel writes for a row. For one
 * thread.
 */
public abstract class FedRows implements AutoCloseable {

  private final TrainingDevice device;
  private final int dims;
  private final int answerBytes;
  // rows that fit a buffer together with what is written for them
  private final int together;
  private final Block block;

  /** The kernel's parameters, of which the subclass sets the number and form of the centroids. */
  final MemorySegment parameters = Arena.ofAuto().allocate(KMeansLayout.BYTES, Long.BYTES);

  private final long[] rows = new long[RowFeed.COUNT];
  private final long[] answers = new long[RowFeed.COUNT];

  /**
   * Allocates memory and copies the centroids. The calling thread holds the device's lock.
   *
   * @param centroidBytes bytes of all centroids
   * @param centroids writes them
   * @param dims components of a row
   * @param answerBytes bytes that the kernel writes for a row
   */
  FedRows(
      TrainingDevice device,
      long centroidBytes,
      Consumer<MemorySegment> centroids,
      int dims,
      int answerBytes) {
    this.device = device;
    this.dims = dims;
    this.answerBytes = answerBytes;
    this.together = RowFeed.rowsTogether(dims * Float.BYTES + answerBytes);
    long rowBytes = (long) together * dims * Float.BYTES;
    long allAnswers = (long) together * answerBytes;
    CudaDriver driver = device.driver();
    this.block =
        new Block(
            driver,
            device.budget(),
            Block.padded(centroidBytes)
                + RowFeed.COUNT * (Block.padded(rowBytes) + Block.padded(allAnswers)));
    try (Arena copied = Arena.ofConfined()) {
      long address = block.take(centroidBytes);
      for (int i = 0; i < RowFeed.COUNT; i++) {
        rows[i] = block.take(rowBytes);
        answers[i] = block.take(allAnswers);
      }
      MemorySegment host = copied.allocate(centroidBytes, Float.BYTES);
      centroids.accept(host);
      long stream = device.stream();
      driver.copyToDevice(address, host, stream);
      driver.synchronize(stream);
      parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.CENTROIDS, address);
    } catch (Throwable e) {
      close();
      throw e;
    }
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.CAPACITY, together);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.DIMS, dims);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.ROW_STRIDE, dims * Float.BYTES);
  }

  /** Sets the parameters that say where on the device the answers of {@code count} rows go. */
  abstract void place(long address, int count);

  /** Receives the answers that the kernel has written. */
  @FunctionalInterface
  interface Answers {
    /** Takes the answers of {@code count} rows from {@code first} on. */
    void take(MemorySegment found, int first, int count);
  }

  /** Assigns rows {@code 0 <= row < count}. {@link RowFeed} explains the parameters. */
  final void run(RowSource source, int count, Answers target, Workers workers, AbortCheck abort)
      throws IOException {
    RowFeed.Sender sender = (buffer, first, number) -> send(buffer, first, number, target);
    device.feed(source, count, dims, together, sender, workers, abort);
  }

  /** Assigns the rows in a buffer. Their answers are taken when the buffer is done. */
  private void send(BounceBuffers.Buffer buffer, int first, int count, Answers target) {
    CudaDriver driver = device.driver();
    int number = buffer.number();
    long rowBytes = (long) count * dims * Float.BYTES;
    driver.copyToDevice(rows[number], buffer.memory().asSlice(0, rowBytes), buffer.stream());
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.ROWS, rows[number]);
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.COUNT, count);
    place(answers[number], count);
    device.launcher().assign(parameters, buffer.stream());
    MemorySegment found = buffer.memory().asSlice(rowBytes, (long) count * answerBytes);
    driver.copyFromDevice(found, answers[number], buffer.stream());
    buffer.after(() -> target.take(found, first, count));
  }

  /**
   * Frees the memory.
   *
   * @throws dev.vamana.cuda.driver.GpuException if the device fails
   */
  @Override
  public final void close() {
    device.bound(block::close);
  }
}
