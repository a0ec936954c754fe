package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.lang.foreign.MemorySegment;

/** Pinned memory that grows as needed and loses its contents when it does. */
final class PinnedBuffer {

  /** Most bytes of one. */
  static final long MAX_BYTES = 1L << 30;

  private static final long GRANULARITY = 1L << 16;

  private final CudaDriver driver;
  private final SessionHostMemory account;
  private CudaDriver.PinnedMemory memory;

  PinnedBuffer(CudaDriver driver, SessionHostMemory account) {
    this.driver = driver;
    this.account = account;
  }

  /**
   * Makes room for so many bytes, at most {@link #MAX_BYTES}; nothing may be using the old ones.
   *
   * @throws dev.vamana.cuda.driver.GpuException if they cannot be had, or the account refuses them
   */
  void ensure(long wanted) {
    if (memory == null || wanted > memory.segment().byteSize()) {
      free();
      long bytes = (wanted + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
      account.reserve(bytes);
      try {
        memory = driver.allocatePinned(bytes);
      } finally {
        if (memory == null) {
          account.release(bytes);
        }
      }
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
      account.release(old.segment().byteSize());
      old.free();
    }
  }
}
