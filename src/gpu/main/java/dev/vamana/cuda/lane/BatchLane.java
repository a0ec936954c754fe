package dev.vamana.cuda.lane;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;

/**
 * A lane that searches one batch after the other. What queues while it is busy and is alike becomes
 * the next batch.
 */
public abstract class BatchLane<T extends Ticket> extends Lane<T> {

  // who waits longer for the device naps, which tells nothing about processors
  private static final long SPINNING_NANOS = 2_000_000;

  /** As {@link Lane#Lane}. */
  protected BatchLane(
      String name, CudaDriver driver, Consumer<GpuException> onLost, SpareProcessors spare) {
    super(name, driver, onLost, spare);
  }

  /** Makes a lane with a thread of the factory. */
  BatchLane(
      ThreadFactory threads,
      String name,
      CudaDriver driver,
      Consumer<GpuException> onLost,
      SpareProcessors spare) {
    super(threads, name, driver, onLost, spare);
  }

  /** Whether a ticket can be searched together with {@code first}. */
  protected abstract boolean alike(T first, T ticket);

  /** Returns the most items of a batch, unless the first ticket alone has more. */
  protected abstract int maxBatch();

  /**
   * Searches a batch.
   *
   * @throws GpuException if the batch {@link #failed}; nothing of it may run any more unless the
   *     context is lost
   */
  protected abstract void search(List<T> batch);

  /**
   * Returns the failure of a batch, after which the device may be used further. What fails on the
   * host, as a file that cannot be read, is the failure of this batch alone.
   *
   * @param drain waits until nothing of the batch runs any more; if that fails, the context is lost
   */
  protected final GpuException failed(Throwable e, Runnable drain) {
    GpuException failure =
        e instanceof GpuException gpu
            ? gpu
            : new GpuException(GpuException.Kind.FAILED, "a batch failed on the host: " + e, e);
    if (failure.contextLost()) {
      return failure;
    }
    try {
      drain.run();
      return failure;
    } catch (GpuException again) {
      again.addSuppressed(e);
      return again.asLoss();
    }
  }

  @Override
  protected boolean advance() {
    T first = inbox().peek();
    if (first == null) {
      return false;
    }
    List<T> batch = take(first);
    if (batch.isEmpty() == false) {
      run(batch);
    }
    return true;
  }

  private List<T> take(T first) {
    List<T> taken = new ArrayList<>();
    int items = 0;
    for (Iterator<T> all = inbox().iterator(); all.hasNext(); ) {
      T ticket = all.next();
      if (alike(first, ticket) && (items == 0 || items + ticket.count() <= maxBatch())) {
        all.remove();
        if (begin(ticket)) {
          taken.add(ticket);
          items += ticket.count();
        }
      }
    }
    return taken;
  }

  private void run(List<T> batch) {
    long begun = System.nanoTime();
    spare().spinning(begun);
    GpuException failure = null;
    try {
      search(batch);
    } catch (GpuException e) {
      failure = e;
    } catch (RuntimeException | Error e) {
      failure = unexpected(e);
    }
    long now = System.nanoTime();
    if (now - begun < SPINNING_NANOS) {
      spare().spinning(now);
    } else {
      spare().waiting(now);
    }
    end(batch, failure);
    if (failure != null && failure.contextLost()) {
      throw failure;
    }
  }

  @Override
  protected void abandon(GpuException why) {}
}
