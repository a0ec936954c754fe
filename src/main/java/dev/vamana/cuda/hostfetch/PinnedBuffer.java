package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.driver.CudaDriver;
import java.lang.foreign.MemorySegment;

/** Pinned memory that grows as needed and loses its contents when it does. */
final class PinnedBuffer {

  /** Most bytes of one. */
  static final long MAX_BYTES = 1L << 30;

  private static final long GRANULARITY = 1L << 16;

  private final CudaDriver driver;
  private CudaDriver.PinnedMemory memory;

  PinnedBuffer(CudaDriver driver) {
    this.driver = driver;
  }

  /**
   * Makes room for so many bytes, at most {@link #MAX_BYTES}; nothing may be using the old ones.
   */
  void ensure(long wanted) {
    if (memory == null || wanted > memory.segment().byteSize()) {
      free();
      memory = driver.allocatePinned((wanted + GRANULARITY - 1) / GRANULARITY * GRANULARITY);
    }
  }

  MemorySegment segment() {
    return memory.segment();
  }

  /** Where the device sees the first byte. */
  long address() {
    return memory.deviceAddress();
  }

  void free() {
    if (memory != null) {
      CudaDriver.PinnedMemory old = memory;
      memory = null;
      old.free();
    }
  }
}
