package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;

/** Device memory that grows as needed and loses its contents when it does. */
public final class DeviceBuffer {

  private static final long GRANULARITY = 1L << 20;

  private final CudaDriver driver;
  private long address;
  private long bytes;

  /** Makes an empty one. */
  public DeviceBuffer(CudaDriver driver) {
    this.driver = driver;
  }

  /** The address of at least so many bytes. Nothing may be using the old ones. */
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
   * As {@link #ensure(long)}; where there was less before, the first bytes are cleared.
   *
   * @param zeroed how many
   * @param stream clears them before what is launched into it later
   */
  public long ensure(long wanted, long zeroed, long stream) {
    boolean grows = wanted > bytes;
    ensure(wanted);
    if (grows) {
      driver.fill(address, (byte) 0, zeroed, stream);
    }
    return address;
  }

  /** Bytes in use. */
  public long bytes() {
    return bytes;
  }

  /** Gives the memory back; nothing may be using it. */
  public void free() {
    if (bytes > 0) {
      long old = address;
      bytes = 0;
      address = 0;
      driver.free(old);
    }
  }
}
