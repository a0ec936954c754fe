package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import java.util.function.Supplier;

/** The memory of the context that there is now. */
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

  /** The memory, or null if there is none now. */
  DeviceMemory current() {
    return current;
  }

  /**
   * The memory, begun with the driver of now if there is none; null without a driver, and with one
   * that was given up.
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

  /** Takes bytes of device memory, or none and returns false. */
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

  /** Gives bytes of device memory back. */
  void release(long bytes) {
    DeviceMemory memory = current;
    if (memory != null) {
      memory.device().release(bytes);
    }
  }

  /** Sets other limits, for the memory of now too. */
  synchronized void limits(ResidencyOptions newOptions) {
    options = newOptions;
    if (current != null) {
      current.device().limit(deviceLimit(current.driver()));
      current.pageCache().limit(pageCacheLimit());
    }
  }

  /**
   * The context is lost: forgets the memory, which is returned, when nobody is in there any more.
   */
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

  /** Frees what is left. */
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
