package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.work.Threads;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Watches a long step from a thread of its own: the largest live heap, which it finds by a
 * collection every {@value #SECONDS} seconds, and the most memory of the device in use. Tells both,
 * so that somebody who waits knows that the step goes on.
 */
final class LargeMeter implements AutoCloseable {

  private static final int SECONDS = 10;

  private final Stage.Context context;
  private final Supplier<CudaDriver> driver;
  private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
  private final long start = System.nanoTime();
  private final long heapBefore;
  private final Thread thread;
  private volatile boolean stopped;
  private long heap;
  private long device;

  /**
   * Begins to watch.
   *
   * @param driver returns the device to watch, or null
   */
  LargeMeter(Stage.Context context, Supplier<CudaDriver> driver) {
    this.context = context;
    this.driver = driver;
    this.heapBefore = liveHeap();
    this.thread = new Thread(this::watch, "large-meter");
    thread.setDaemon(true);
    thread.start();
  }

  private void watch() {
    while (stopped == false) {
      LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(SECONDS));
      if (stopped == false) {
        look();
        context.say(
            "%.0f s: live heap %,d MB, device memory in use %,d MB",
            (System.nanoTime() - start) * 1e-9, heap() >> 20, device() >> 20);
      }
    }
  }

  private synchronized void look() {
    heap = Math.max(heap, liveHeap() - heapBefore);
    CudaDriver current = driver.get();
    if (current != null) {
      try {
        current.bind();
        device = Math.max(device, current.device().totalBytes() - current.freeBytes());
      } catch (GpuException e) {
        context.say("device memory: %s", e.getMessage());
      }
    }
  }

  private long liveHeap() {
    memory.gc();
    return memory.getHeapMemoryUsage().getUsed();
  }

  /** Returns the largest live heap so far, in bytes above the heap at the beginning. */
  synchronized long heap() {
    return heap;
  }

  /** Returns the most bytes of device memory in use so far, other processes included. */
  synchronized long device() {
    return device;
  }

  /** Looks once more and stops. The device has to be open. */
  @Override
  public void close() {
    stopped = true;
    LockSupport.unpark(thread);
    Threads.join(thread);
    look();
  }
}
