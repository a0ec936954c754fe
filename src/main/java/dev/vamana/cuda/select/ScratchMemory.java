package dev.vamana.cuda.select;

import dev.vamana.cuda.driver.CudaDriver;

/** Device memory that grows when more is asked for. What it held is then lost. */
final class ScratchMemory {

  private final CudaDriver driver;
  private final long zeroed;
  private long address;
  private long bytes;

  /**
   * Nothing yet.
   *
   * @param zeroed bytes at the front that are zero when memory is new
   */
  ScratchMemory(CudaDriver driver, long zeroed) {
    this.driver = driver;
    this.zeroed = zeroed;
  }

  /** Address of at least this much; work of the stream may still be using what was there. */
  long atLeast(long wanted, long stream) {
    if (wanted > bytes) {
      driver.synchronize(stream);
      free();
      address = driver.allocate(wanted);
      bytes = wanted;
      if (zeroed > 0) {
        driver.fill(address, (byte) 0, Math.min(zeroed, wanted), stream);
      }
    }
    return address;
  }

  long bytes() {
    return bytes;
  }

  void free() {
    if (bytes > 0) {
      bytes = 0;
      driver.free(address);
    }
  }
}
