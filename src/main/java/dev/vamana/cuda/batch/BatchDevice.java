package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.work.Threads;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The batching of one context: pinned memory, streams, and the dispatcher with its thread. Calls
 * pack items with a {@link Packer}, {@link #submit} chunks, {@link #await} them, and read a {@link
 * DeviceResult} per item.
 */
public final class BatchDevice {

  private final StagingPool staging;
  private final DevicePool accepted;
  private final Dispatcher dispatcher;
  private final Thread thread;
  private final BatchCounters statistics;
  private volatile int maxBatch;
  private final Waiters waiters = new Waiters();

  private BatchDevice(
      StagingPool staging,
      DevicePool accepted,
      Dispatcher dispatcher,
      BatchCounters statistics,
      int maxBatch) {
    this.staging = staging;
    this.accepted = accepted;
    this.dispatcher = dispatcher;
    this.statistics = statistics;
    this.maxBatch = maxBatch;
    this.thread = new Thread(dispatcher, "vamana-gpu-dispatcher");
    thread.setDaemon(true);
  }

  /**
   * Allocates memory and starts the dispatcher. The calling thread is bound to the driver.
   *
   * @param account counts pinned memory in use by requests
   * @param onLost called once by the dispatcher's thread, as its last act, if the context is lost
   * @throws GpuException if anything fails; all resources have been freed then
   */
  public static BatchDevice open(
      CudaDriver driver,
      BatchOptions options,
      SessionHostMemory account,
      BatchCounters statistics,
      Consumer<GpuException> onLost) {
    StagingPool staging = new StagingPool(driver, options.stagingBytes(), account);
    DevicePool accepted = null;
    BatchDevice device;
    try {
      accepted = new DevicePool(driver, options.acceptBytes());
      Dispatcher dispatcher =
          new Dispatcher(
              driver,
              staging,
              options.tuning(),
              options.depth(),
              options.overlap(),
              options.maxBatch(),
              options.lingerNanos(),
              statistics,
              onLost);
      device = new BatchDevice(staging, accepted, dispatcher, statistics, options.maxBatch());
    } catch (RuntimeException e) {
      try {
        if (accepted != null) {
          accepted.close();
        }
        staging.free();
      } catch (RuntimeException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
    device.thread.start();
    return device;
  }

  /**
   * Changes the batching of launches from now on.
   *
   * @param newMaxBatch most items of a launch, 1 to {@value BatchOptions#MAX_BATCH}
   * @param newLingerNanos how long an idle device waits for more items, 0 or more
   */
  public void adjust(int newMaxBatch, long newLingerNanos) {
    maxBatch = newMaxBatch;
    dispatcher.adjust(newMaxBatch, newLingerNanos);
  }

  /** Makes a packer for the items of one call, for use by the calling thread. */
  public Packer packer(List<WorkItem> batch, ItemPlan[] plans) {
    return new Packer(staging, accepted, batch, plans, maxBatch, dispatcher.pending() == 0);
  }

  /** Submits a chunk to the dispatcher. */
  public void submit(Chunk chunk) {
    dispatcher.submit(chunk);
  }

  /**
   * Waits on the calling thread for a chunk or scan of this device; see {@link Waiters#await}.
   *
   * @return false if {@code unwanted} became true before {@code ended}
   */
  public boolean await(Object blocker, BooleanSupplier ended, BooleanSupplier unwanted) {
    return waiters.await(blocker, ended, unwanted);
  }

  /** Reads the device's result of item {@code i} of a chunk that is done. */
  public DeviceResult result(Chunk chunk, int i, ItemPlan plan) {
    return DeviceResult.read(chunk, i, plan);
  }

  /**
   * Counts the work of items, once for all of a chunk: counting each takes as long as reading it.
   */
  public void walked(long visited, long iterations) {
    statistics.walked(visited, iterations);
  }

  /** Wakes threads that wait for items of a segment that is being closed. */
  public void closing(SegmentView view) {
    dispatcher.closing(view);
  }

  /** Returns the number of launches in flight. */
  public int inFlight() {
    return dispatcher.inFlight();
  }

  /** Items that were handed over and are not done yet. */
  public long pending() {
    return dispatcher.pending();
  }

  /** Returns the bytes of pinned memory in use. */
  public long stagingUsed() {
    return staging.used();
  }

  /**
   * Stops the dispatcher after everything submitted is done. Nothing may be submitted afterwards.
   */
  public void stop() {
    dispatcher.close();
    Threads.join(thread);
  }

  /** Frees everything after {@link #stop}. The calling thread is bound to the driver. */
  public void free() {
    dispatcher.free();
    accepted.close();
    staging.free();
  }
}
