package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.CudaDriver;

/**
 * A block of device memory from which any thread allocates parts without calling the driver. It
 * holds bitsets of accepted ordinals.
 */
final class DevicePool {

  private static final int UNIT = 4096;

  private final CudaDriver driver;
  private final long address;
  private final BuddyAllocator allocator;

  /** Allocates the block. The calling thread is bound to the driver. */
  DevicePool(CudaDriver driver, long bytes) {
    this.driver = driver;
    this.address = driver.allocate(bytes);
    this.allocator = new BuddyAllocator(bytes, UNIT);
  }

  /** Returns the address of at least {@code bytes} bytes, or 0 if no part is large enough. */
  long allocate(long bytes) {
    long offset = allocator.allocate(bytes);
    return offset < 0 ? 0 : address + offset;
  }

  /** Frees a part that {@link #allocate} returned. */
  void free(long part) {
    allocator.free(part - address);
  }

  /** Returns the bytes in use. */
  long used() {
    return allocator.used();
  }

  /** Frees the block. The calling thread is bound to the driver. */
  void close() {
    driver.free(address);
  }
}
