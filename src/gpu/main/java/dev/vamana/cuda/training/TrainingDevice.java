package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.BounceBuffers;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.pq.TrainingSchedule;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.lucene.util.IORunnable;
import org.apache.lucene.util.IOSupplier;

/**
 * Trains codebooks and encodes vectors in one context. Any thread may call it; one at a time holds
 * the streams, and the others wait and call their abort check meanwhile.
 *
 * <p>Methods throw {@link GpuException} if the device fails or memory is refused; all memory has
 * been freed then.
 */
public final class TrainingDevice {

  private static final long NANOS_BETWEEN_TRIES = 200_000;

  private final CudaDriver driver;
  private final DeviceBudget budget;
  private final Launcher launcher;
  private final BounceBuffers buffers;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * Makes an instance, which allocates nothing yet.
   *
   * @param hostMemory counts pinned memory
   * @param budget counts device memory
   */
  public TrainingDevice(CudaDriver driver, SessionHostMemory hostMemory, DeviceBudget budget) {
    this.driver = driver;
    this.budget = budget;
    this.launcher = new Launcher(driver);
    this.buffers = new BounceBuffers(driver, hostMemory, RowFeed.COUNT, RowFeed.BYTES);
  }

  /** Runs work of the thread that holds the streams. */
  private <T> T alone(AbortCheck abort, IOSupplier<T> work) throws IOException {
    abort.check();
    while (lock.tryLock() == false) {
      LockSupport.parkNanos(this, NANOS_BETWEEN_TRIES);
      abort.check();
    }
    try {
      driver.bind();
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  /** Runs work that uses the buffers. If it fails, waits until nothing is in use. */
  private <T> T leavingNothing(IOSupplier<T> work) throws IOException {
    try {
      T result = work.get();
      buffers.finish();
      return result;
    } catch (Throwable e) {
      Cleanup.after(e, buffers::drop);
      throw e;
    }
  }

  private void withBuffers(AbortCheck abort, IORunnable work) throws IOException {
    alone(
        abort,
        () ->
            leavingNothing(
                () -> {
                  work.run();
                  return null;
                }));
  }

  /**
   * Trains a codebook in the way of {@link PqTrainer}.
   *
   * @param sample at least one vector
   * @param workers threads that read the sample
   * @return centroids in the order of {@link Codebook}
   */
  public float[] train(
      TrainingSample sample,
      SubspaceLayout layout,
      PqTrainer.Options options,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    int n = sample.size();
    int dims = layout.dims();
    int[] order = TrainingSchedule.order(n, options.seed());
    RowSource source =
        () -> {
          TrainingSample own;
          synchronized (sample) {
            own = sample.copy();
          }
          return (row, target) -> own.vector(order[row], target);
        };
    return alone(
        abort,
        () -> {
          try (Block block = new Block(driver, budget, (long) n * dims * Float.BYTES)) {
            DeviceRows rows = new DeviceRows(block.address(), dims * Float.BYTES, n, dims);
            return leavingNothing(
                () -> {
                  upload(source, rows, workers, abort);
                  return train(rows, layout, options, abort);
                });
          }
        });
  }

  private float[] train(
      DeviceRows rows, SubspaceLayout layout, PqTrainer.Options options, AbortCheck abort)
      throws IOException {
    int pool = Math.min(rows.count(), TrainingSchedule.POOL);
    try (Clusters clusters =
        new Clusters(this, rows, layout.count(), Codebook.CENTROIDS, pool, options.tolerance())) {
      clusters.begin(pool, s -> TrainingSchedule.seed(options.seed(), s));
      for (TrainingSchedule.Level level : TrainingSchedule.levels(rows.count(), options)) {
        clusters.iterate(level.rows(), level.iterations(), abort);
      }
      return clusters.centroids();
    }
  }

  /**
   * Copies rows to device memory, and waits until they are there.
   *
   * @param rows where they go; rows of floats
   * @param workers threads that read the rows
   * @throws IOException from {@code source} or {@code abort}, unchanged
   */
  public void bring(RowSource source, DeviceRows rows, Workers workers, AbortCheck abort)
      throws IOException {
    withBuffers(abort, () -> upload(source, rows, workers, abort));
  }

  /** Fills or reads the rows of a part of an array. */
  @FunctionalInterface
  public interface Part {
    /**
     * Handles rows {@code first} to {@code first + count - 1}.
     *
     * @param memory the rows, pinned, valid during the call
     */
    void handle(MemorySegment memory, int first, int count);
  }

  /**
   * Copies an array to device memory, and waits until it is there.
   *
   * @param rowBytes bytes of a row, at most 2 MiB
   * @param filler fills each part, on the calling thread
   */
  public void send(long address, int rowBytes, int count, Part filler, AbortCheck abort)
      throws IOException {
    inParts(
        rowBytes,
        count,
        (buffer, first, rows) -> {
          MemorySegment part = buffer.memory().asSlice(0, (long) rows * rowBytes);
          filler.handle(part, first, rows);
          driver.copyToDevice(address + (long) first * rowBytes, part, buffer.stream());
        },
        abort);
  }

  /**
   * Copies an array from device memory.
   *
   * @param rowBytes bytes of a row, at most 2 MiB
   * @param reader reads each part, in order, on the calling thread
   */
  public void fetch(long address, int rowBytes, int count, Part reader, AbortCheck abort)
      throws IOException {
    inParts(
        rowBytes,
        count,
        (buffer, first, rows) -> {
          MemorySegment part = buffer.memory().asSlice(0, (long) rows * rowBytes);
          driver.copyFromDevice(part, address + (long) first * rowBytes, buffer.stream());
          buffer.after(() -> reader.handle(part, first, rows));
        },
        abort);
  }

  private void inParts(int rowBytes, int count, RowFeed.Sender sender, AbortCheck abort)
      throws IOException {
    int together = RowFeed.BYTES / rowBytes;
    withBuffers(
        abort,
        () -> {
          for (long first = 0; first < count; first += together) {
            abort.check();
            int rows = (int) Math.min(together, count - first);
            sender.send(buffers.next(), (int) first, rows);
          }
        });
  }

  private void upload(RowSource source, DeviceRows rows, Workers workers, AbortCheck abort)
      throws IOException {
    int rowBytes = rows.dims() * Float.BYTES;
    RowFeed.Sender sender =
        (buffer, first, count) -> {
          long target = rows.address() + (long) first * rows.stride();
          MemorySegment filled = buffer.memory().asSlice(0, (long) count * rowBytes);
          if (rows.stride() == rowBytes) {
            driver.copyToDevice(target, filled, buffer.stream());
          } else {
            driver.copyRowsToDevice(
                target, rows.stride(), filled, rowBytes, count, buffer.stream());
          }
        };
    int together = RowFeed.rowsTogether(rowBytes);
    new RowFeed(buffers, source, rows.count(), rows.dims(), together, sender, abort).run(workers);
    buffers.finish();
  }

  /** Copies a codebook to the device for encoding. */
  public NearestCentroids encoder(Codebook codebook, AbortCheck abort) throws IOException {
    return made(() -> NearestCentroids.of(this, codebook), abort);
  }

  /** Copies centroids to the device, of which the nearest are to be found. */
  public NearestCentroids assigner(float[][] centroids, AbortCheck abort) throws IOException {
    return made(() -> NearestCentroids.of(this, centroids), abort);
  }

  /** Makes something that has device memory, and closes it if the buffers fail behind it. */
  private NearestCentroids made(Supplier<NearestCentroids> maker, AbortCheck abort)
      throws IOException {
    return alone(
        abort,
        () -> {
          NearestCentroids made = null;
          try {
            made = maker.get();
            buffers.finish();
            return made;
          } catch (Throwable e) {
            Cleanup.after(e, buffers::drop);
            if (made != null) {
              Cleanup.after(e, made::close);
            }
            throw e;
          }
        });
  }

  /** Feeds rows to the device. {@link RowFeed} explains the parameters. */
  void feed(
      RowSource source,
      int count,
      int dims,
      int together,
      RowFeed.Sender sender,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    RowFeed feed = new RowFeed(buffers, source, count, dims, together, sender, abort);
    withBuffers(abort, () -> feed.run(workers));
  }

  CudaDriver driver() {
    return driver;
  }

  DeviceBudget budget() {
    return budget;
  }

  /** Returns a stream for the thread that holds the lock. */
  long stream() {
    return buffers.next().stream();
  }

  Launcher launcher() {
    return launcher;
  }

  /** Binds the context and runs an action that does not need the streams. */
  void bound(Runnable action) {
    driver.bind();
    action.run();
  }

  /** Frees everything. No other method may be running. */
  public void free() {
    buffers.free();
  }
}
