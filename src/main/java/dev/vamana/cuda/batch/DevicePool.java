package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.CudaDriver;

/** Device memory that any thread can take parts of without asking the driver. */
final class DevicePool {

  private static final int UNIT = 4096;

  private final CudaDriver driver;
  private final long address;
  private final BuddyAllocator allocator;

  /** Allocates; the calling thread is bound to the driver. */
  DevicePool(CudaDriver driver, long bytes) {
    this.driver = driver;
    this.address = driver.allocate(bytes);
    this.allocator = new BuddyAllocator(bytes, UNIT);
  }

  /** Address of at least so many bytes, or 0 if there are none now. */
  long allocate(long bytes) {
    long offset = allocator.allocate(bytes);
    return offset < 0 ? 0 : address + offset;
  }

  /** Takes back what {@link #allocate} gave. */
  void free(long part) {
    allocator.free(part - address);
  }

  /** Bytes in use. */
  long used() {
    return allocator.used();
  }

  /** Frees all; the calling thread is bound to the driver. */
  void close() {
    driver.free(address);
  }
}
