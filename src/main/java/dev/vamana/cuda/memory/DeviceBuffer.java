package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;

/** Device memory that grows on demand. Growing discards the contents. */
public final class DeviceBuffer {

  private static final long GRANULARITY = 1L << 20;

  private final CudaDriver driver;
  private long address;
  private long bytes;

  /** Makes an empty buffer. */
  public DeviceBuffer(CudaDriver driver) {
    this.driver = driver;
  }

  /**
   * Makes room for {@code wanted} bytes and returns the address. The old memory must not be in use.
   */
  public long ensure(long wanted) {
    if (wanted > bytes) {
      free();
      long rounded = (wanted + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
      address = driver.allocate(rounded);
      bytes = rounded;
    }
    return address;
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

  /** Returns the allocated bytes. */
  public long bytes() {
    return bytes;
  }

  /** Frees the memory, which must not be in use. */
  public void free() {
    if (bytes > 0) {
      long old = address;
      bytes = 0;
      address = 0;
      driver.free(old);
    }
  }
}
