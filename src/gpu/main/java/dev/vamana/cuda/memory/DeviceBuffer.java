package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;

/**
 * Device memory that grows on demand by the rule of {@link Growth}, within a budget. Growing
 * discards the contents.
 */
public final class DeviceBuffer {

  private static final long GRANULARITY = 1L << 20;

  private final CudaDriver driver;
  private final DeviceBudget budget;
  private long address;
  private long bytes;

  /**
   * Makes an empty buffer.
   *
   * @param budget counts the buffer's bytes
   */
  public DeviceBuffer(CudaDriver driver, DeviceBudget budget) {
    this.driver = driver;
    this.budget = budget;
  }

  /**
   * Makes room for {@code wanted} bytes and returns the address. The old memory must not be in use.
   *
   * @throws GpuException with {@link GpuException.Kind#OUT_OF_MEMORY} if the driver or the budget
   *     has no room; the buffer is empty then
   */
  public long ensure(long wanted) {
    if (wanted > bytes) {
      Growth.grow(
          bytes,
          wanted,
          GRANULARITY,
          this::free,
          size -> allocate(size, budget.reserve(size)),
          size -> allocate(size, budget.claim(size)));
    }
    return address;
  }

  private void allocate(long size, boolean reserved) {
    if (reserved == false) {
      throw new GpuException(
          GpuException.Kind.OUT_OF_MEMORY,
          size + " bytes of scratch do not fit the limit of device memory");
    }
    try {
      address = driver.allocate(size);
    } catch (Throwable e) {
      budget.release(size);
      throw e;
    }
    bytes = size;
  }

  /**
   * As {@link #ensure(long)}; if the buffer grows, its first bytes are cleared.
   *
   * @param zeroed number of bytes to clear
   * @param stream stream that clears them, before later work in it
   */
  public long ensure(long wanted, long zeroed, long stream) {
    boolean grows = wanted > bytes;
    ensure(wanted);
    if (grows) {
      driver.fill(address, (byte) 0, zeroed, stream);
    }
    return address;
  }

  /** Returns the address, or 0 if the buffer is empty. */
  public long address() {
    return address;
  }

  /** Returns the allocated bytes. */
  public long bytes() {
    return bytes;
  }

  /** Frees the memory, which must not be in use. */
  public void free() {
    if (bytes > 0) {
      long old = address;
      long size = bytes;
      bytes = 0;
      address = 0;
      driver.free(old);
      budget.release(size);
    }
  }
}
