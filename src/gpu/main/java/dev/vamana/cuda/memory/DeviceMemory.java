package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;

/**
 * The memory of one context: budgets, registrations of mapped files, and upload buffers. When the
 * context is lost, all of it is forgotten at once.
 *
 * <p>A thread calls the driver only between {@link #enter} and {@link #exit}, so that {@link
 * #abandon} can wait until no thread uses the context.
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
   * @param deviceBytes limit of device memory, in bytes
   * @param pageCacheBytes limit of pinned page cache, in bytes
   */
  DeviceMemory(CudaDriver driver, long deviceBytes, long pageCacheBytes) {
    this.driver = driver;
    this.device = new MemoryBudget("device memory", deviceBytes);
    this.pageCache = new MemoryBudget("pinned page cache", pageCacheBytes);
    this.registrations =
        new MappedRegistrations(driver::register, pageCache, MappedRegistrations.MAX_PIECE);
    // left for other users of this device, and for this plugin's other allocations
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
   * Returns the bytes that can be allocated: free in the budget and free on the device. To be
   * called between enter and exit.
   */
  long free() {
    return Math.min(device.free(), Math.max(0, driver.freeBytes() - headroom));
  }

  /** Whether the context is lost. */
  boolean lost() {
    return lost;
  }

  /**
   * Binds the context to the calling thread.
   *
   * @return false if the context is lost; then {@link #exit} must not be called
   */
  boolean enter() {
    synchronized (this) {
      if (lost) {
        return false;
      }
      inside++;
    }
    try {
      driver.bind();
      return true;
    } catch (Throwable e) {
      exit();
      throw e;
    }
  }

  /** Ends a successful {@link #enter}. */
  synchronized void exit() {
    inside--;
    notifyAll();
  }

  /** Returns the upload buffers, made on first use. Only the upload thread calls this. */
  BounceBuffers buffers() {
    if (buffers == null) {
      buffers =
          new BounceBuffers(
              driver, new SessionHostMemory(HostMemoryAccount.UNLIMITED), 2, BounceBuffers.BYTES);
    }
    return buffers;
  }

  /**
   * Marks the context as lost, after which {@link #enter} fails, and waits until no thread is
   * inside.
   */
  synchronized void abandon() {
    lost = true;
    Waiting.until(this, () -> inside == 0);
  }

  /** Frees the upload buffers. The calling thread is bound to the context. */
  void freeBuffers() {
    BounceBuffers last = buffers;
    buffers = null;
    if (last != null) {
      last.free();
    }
  }

  /** Frees the upload buffers. Everything else has been freed before. */
  void close() {
    if (enter()) {
      try {
        freeBuffers();
      } catch (GpuException e) {
        // the context is closed next
      } finally {
        exit();
      }
    }
    abandon();
  }
}
