package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import java.lang.foreign.MemorySegment;

/** Pinned memory that grows as needed and loses its contents when it does. */
public final class PinnedBuffer {

  /** Most bytes of one. */
  public static final long MAX_BYTES = 1L << 30;

  private static final long GRANULARITY = 1L << 16;

  private final CudaDriver driver;
  private final SessionHostMemory account;
  private CudaDriver.PinnedMemory memory;

  /**
   * Makes an empty one.
   *
   * @param account counts its bytes
   */
  public PinnedBuffer(CudaDriver driver, SessionHostMemory account) {
    this.driver = driver;
    this.account = account;
  }

  /**
   * Makes room for so many bytes, at most {@link #MAX_BYTES}; nothing may be using the old ones.
   *
   * @throws dev.vamana.cuda.driver.GpuException if they cannot be had, or the account refuses them
   */
  public void ensure(long wanted) {
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

  /** The bytes. */
  public MemorySegment segment() {
    return memory.segment();
  }

  /** Where the device sees the first byte. */
  public long address() {
    return memory.deviceAddress();
  }

  /** Gives the memory back; nothing may be using it. */
  public void free() {
    if (memory != null) {
      CudaDriver.PinnedMemory old = memory;
      memory = null;
      account.release(old.segment().byteSize());
      old.free();
    }
  }
}
