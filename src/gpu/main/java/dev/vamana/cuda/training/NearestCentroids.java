package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansLayout;
import dev.vamana.cuda.memory.BounceBuffers;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.vectors.ArrayCopy;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;

/**
 * Centroids on the device, and the kernel that finds the nearest of them for each row, fed by a
 * {@link RowFeed}: the nearest of one set, with its distance, or the nearest of each subspace of a
 * codebook, which are a code. For one thread. {@link TrainingDevice} makes it.
 */
public final class NearestCentroids implements AutoCloseable {

  // number and squared distance of a row's centroid; all numbers lie before all distances
  private static final int FOUND_BYTES = Integer.BYTES + Float.BYTES;

  private final TrainingDevice device;
  private final int dims;
  private final int answerBytes;
  private final boolean codes;
  // rows that fit a buffer together with what is written for them
  private final int together;
  private final Block block;
  private final MemorySegment parameters = Arena.ofAuto().allocate(KMeansLayout.BYTES, Long.BYTES);
  private final long[] rows = new long[RowFeed.COUNT];
  private final long[] answers = new long[RowFeed.COUNT];

  /** Copies a codebook, for codes. The calling thread holds the device's lock. */
  static NearestCentroids of(TrainingDevice device, Codebook codebook) {
    SubspaceLayout layout = codebook.layout();
    NearestCentroids made =
        new NearestCentroids(
            device,
            (long) codebook.centroids().length * Float.BYTES,
            host -> host.copyFrom(MemorySegment.ofArray(codebook.centroids())),
            layout.dims(),
            layout.count(),
            true);
    made.set(layout.count(), Codebook.CENTROIDS, layout.maxLength());
    return made;
  }

  /** Copies centroids, for the nearest of them. The calling thread holds the device's lock. */
  static NearestCentroids of(TrainingDevice device, float[][] centroids) {
    int dims = centroids[0].length;
    NearestCentroids made =
        new NearestCentroids(
            device,
            (long) centroids.length * dims * Float.BYTES,
            host -> copy(centroids, host),
            dims,
            FOUND_BYTES,
            false);
    made.set(1, centroids.length, dims);
    return made;
  }

  private static void copy(float[][] centroids, MemorySegment host) {
    long at = 0;
    for (float[] centroid : centroids) {
      ArrayCopy.toMemory(centroid, 0, host, at, centroid.length);
      at += (long) centroid.length * Float.BYTES;
    }
  }

  private void set(int subspaces, int k, int longest) {
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.SUBSPACES, subspaces);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.K, k);
    parameters.set(ValueLayout.JAVA_INT, KMeansLayout.MAX_LENGTH, longest);
  }

  /**
   * Allocates memory and copies the centroids.
   *
   * @param centroidBytes bytes of all centroids
   * @param centroids writes them
   * @param dims components of a row
   * @param answerBytes bytes that the kernel writes for a row
   * @param codes whether it writes codes
   */
  private NearestCentroids(
      TrainingDevice device,
      long centroidBytes,
      Consumer<MemorySegment> centroids,
      int dims,
      int answerBytes,
      boolean codes) {
    this.codes = codes;
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
    Answers taken =
        (found, first, number) ->
            ArrayCopy.toArray(found, 0, target, first * answerBytes, number * answerBytes);
    run(source, count, taken, workers, abort);
  }

  /**
   * Finds the nearest centroids of rows, as {@link #encode} encodes them.
   *
   * @param target receives their numbers
   * @param distances receives the squared distances to them
   */
  public void assign(
      RowSource source,
      int count,
      int[] target,
      float[] distances,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    Answers taken =
        (found, first, number) -> {
          ArrayCopy.toArray(found, 0, target, first, number);
          long after = (long) number * Integer.BYTES;
          ArrayCopy.toArray(found, after, distances, first, number);
        };
    run(source, count, taken, workers, abort);
  }

  /** Receives the answers that the kernel has written. */
  @FunctionalInterface
  private interface Answers {
    /** Takes the answers of {@code count} rows from {@code first} on. */
    void take(MemorySegment found, int first, int count);
  }

  private void run(RowSource source, int count, Answers target, Workers workers, AbortCheck abort)
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
    if (codes) {
      parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.CODES, answers[number]);
    } else {
      long distances = answers[number] + (long) count * Integer.BYTES;
      parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.ASSIGNED, answers[number]);
      parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.ERRORS, distances);
    }
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
  public void close() {
    device.bound(block::close);
  }
}
