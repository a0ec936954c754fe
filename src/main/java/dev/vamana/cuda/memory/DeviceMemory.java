package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;

/**
 * What lies in one context: budgets, registrations and the buffers that uploads go through. When
 * the context is lost, all of it is forgotten at once, and a new one begins with a new driver.
 *
 * <p>Whoever calls the driver does so between {@link #enter} and {@link #exit}, so that {@link
 * #abandon} can wait until nobody is in there any more.
 */
final class DeviceMemory {

  private final CudaDriver driver;
  private final MemoryBudget device;
  private final MemoryBudget pageCache;
  private final MappedRegistrations registrations;
  private final long headroom;
  private BounceBuffers buffers;
  private int inside;
  private volatile boolean lost;

  /**
   * Makes the memory of a context.
   *
   * @param deviceBytes most bytes of device memory
   * @param pageCacheBytes most bytes of pinned page cache
   */
  DeviceMemory(CudaDriver driver, long deviceBytes, long pageCacheBytes) {
    this.driver = driver;
    this.device = new MemoryBudget("device memory", deviceBytes);
    this.pageCache = new MemoryBudget("pinned page cache", pageCacheBytes);
    this.registrations = new MappedRegistrations(driver, pageCache);
    // for whatever else allocates on this device, ourselves included
    this.headroom = driver.device().totalBytes() / 64;
  }

  CudaDriver driver() {
    return driver;
  }

  MemoryBudget device() {
    return device;
  }

  MemoryBudget pageCache() {
    return pageCache;
  }

  MappedRegistrations registrations() {
    return registrations;
  }

  /**
   * Bytes that can be allocated: within the budget, and not in use by others. Between enter and
   * exit.
   */
  long free() {
    return Math.min(device.free(), Math.max(0, driver.freeBytes() - headroom));
  }

  /** Whether the context is gone. */
  boolean lost() {
    return lost;
  }

  /**
   * Binds the context to the calling thread.
   *
   * @return false if the context is gone; then there is no {@link #exit} either
   */
  boolean enter() {
    synchronized (this) {
      if (lost) {
        return false;
      }
      inside++;
    }
    boolean bound = false;
    try {
      driver.bind();
      bound = true;
    } finally {
      if (bound == false) {
        exit();
      }
    }
    return true;
  }

  /** Ends what {@link #enter} began. */
  synchronized void exit() {
    inside--;
    notifyAll();
  }

  /** The buffers that uploads go through, made on first use. For the uploading thread. */
  BounceBuffers buffers() {
    if (buffers == null) {
      buffers = new BounceBuffers(driver);
    }
    return buffers;
  }

  /** The context is gone: nobody enters any more, and when this returns, nobody is inside. */
  synchronized void abandon() {
    lost = true;
    Waiting.until(this, () -> inside == 0);
  }

  /** Frees the buffers; all else has been freed before. */
  void close() {
    if (enter()) {
      try {
        if (buffers != null) {
          buffers.close();
        }
      } catch (GpuException e) {
        // a context that fails here is closed next
      } finally {
        exit();
      }
    }
    abandon();
  }
}
