package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import java.util.function.Supplier;

/** Holds the {@link DeviceMemory} of the current context, and opens a new one after a loss. */
final class CurrentMemory {

  private final Supplier<CudaDriver> drivers;
  private ResidencyOptions options;
  private volatile DeviceMemory current;
  private CudaDriver abandoned;
  private boolean closed;

  CurrentMemory(Supplier<CudaDriver> drivers, ResidencyOptions options) {
    this.drivers = drivers;
    this.options = options;
  }

  /** Returns the memory, or null if there is none. */
  DeviceMemory current() {
    return current;
  }

  /**
   * Returns the memory, and makes it if there is none. Returns null if there is no driver, or only
   * the driver that was abandoned.
   */
  synchronized DeviceMemory open() {
    if (current == null && closed == false) {
      CudaDriver driver = drivers.get();
      if (driver != null && driver.equals(abandoned) == false) {
        current = new DeviceMemory(driver, deviceLimit(driver), pageCacheLimit());
      }
    }
    return current;
  }

  private long deviceLimit(CudaDriver driver) {
    return options.deviceLimit().of(driver.device().totalBytes());
  }

  private long pageCacheLimit() {
    return options.pageCacheLimit().of(options.hostBytes());
  }

  /** Reserves bytes of device memory. Returns false, and reserves nothing, if fewer are free. */
  boolean reserve(long bytes) {
    DeviceMemory memory = open();
    if (memory == null || memory.enter() == false) {
      return false;
    }
    try {
      return bytes <= memory.free() && memory.device().tryReserve(bytes);
    } finally {
      memory.exit();
    }
  }

  /** Releases bytes of device memory. */
  void release(long bytes) {
    DeviceMemory memory = current;
    if (memory != null) {
      memory.device().release(bytes);
    }
  }

  /** Sets other limits, for the current memory too. */
  synchronized void limits(ResidencyOptions newOptions) {
    options = newOptions;
    if (current != null) {
      current.device().limit(deviceLimit(current.driver()));
      current.pageCache().limit(pageCacheLimit());
    }
  }

  /** Forgets the memory of a lost context, and returns it when no thread is inside any more. */
  DeviceMemory abandon() {
    DeviceMemory lost;
    synchronized (this) {
      lost = current;
      current = null;
      abandoned = lost != null ? lost.driver() : drivers.get();
    }
    if (lost != null) {
      lost.abandon();
    }
    return lost;
  }

  /** Closes the current memory; no other is opened afterwards. */
  void close() {
    DeviceMemory last;
    synchronized (this) {
      closed = true;
      last = current;
      current = null;
    }
    if (last != null) {
      last.close();
    }
  }
}
