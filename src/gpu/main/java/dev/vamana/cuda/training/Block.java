package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.DeviceBudget;

/**
 * One allocation of device memory, counted against a budget, that is divided into consecutive
 * arrays.
 */
public final class Block implements AutoCloseable {

  private static final long ALIGNMENT = 256;

  private final CudaDriver driver;
  private final DeviceBudget budget;
  private final long bytes;
  private final long address;
  private long used;

  /**
   * Allocates the memory.
   *
   * @throws GpuException with {@link GpuException.Kind#OUT_OF_MEMORY} if the budget or the device
   *     has less
   */
  public Block(CudaDriver driver, DeviceBudget budget, long bytes) {
    this.driver = driver;
    this.budget = budget;
    this.bytes = bytes;
    if (budget.reserve(bytes) == false) {
      throw new GpuException(
          GpuException.Kind.OUT_OF_MEMORY,
          bytes + " bytes of device memory are not left for this work");
    }
    try {
      this.address = driver.allocate(bytes);
    } catch (Throwable e) {
      budget.release(bytes);
      throw e;
    }
  }

  /** Returns the bytes that an array of {@code bytes} bytes occupies. */
  public static long padded(long bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  /** Returns the address of the next array. */
  public long take(long size) {
    long at = used;
    used += padded(size);
    if (used > bytes) {
      throw new IllegalStateException(used + " bytes taken of " + bytes);
    }
    return address + at;
  }

  /** Returns the address of the first array. */
  long address() {
    return address;
  }

  /** Frees the memory, which must not be in use. */
  @Override
  public void close() {
    try {
      driver.free(address);
    } finally {
      budget.release(bytes);
    }
  }
}
