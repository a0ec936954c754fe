package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import java.lang.foreign.MemorySegment;

/**
 * Pinned host memory that grows on demand, to twice its size or by {@value #MOST_AHEAD} bytes,
 * since each growth waits for the device. Growing discards the contents.
 */
public final class PinnedBuffer {

  /** Most bytes of a buffer that serves searches. */
  public static final long MAX_BYTES = 1L << 30;

  private static final long GRANULARITY = 1L << 16;

  /** Most bytes that are allocated beyond those that are wanted. */
  private static final long MOST_AHEAD = 64L << 20;

  private final CudaDriver driver;
  private final SessionHostMemory account;
  private CudaDriver.PinnedMemory memory;

  /**
   * Makes an empty buffer.
   *
   * @param account counts the buffer's bytes
   */
  public PinnedBuffer(CudaDriver driver, SessionHostMemory account) {
    this.driver = driver;
    this.account = account;
  }

  /**
   * Makes room for {@code wanted} bytes. The old memory must not be in use.
   *
   * @throws dev.vamana.cuda.driver.GpuException if the driver or the account refuses the memory
   */
  public void ensure(long wanted) {
    long bytes = memory == null ? 0 : memory.segment().byteSize();
    if (memory == null || wanted > bytes) {
      long least = (wanted + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
      long ahead = Math.max(least, bytes + Math.min(bytes, MOST_AHEAD));
      free();
      try {
        allocate(ahead);
      } catch (GpuException e) {
        if (e.kind() != GpuException.Kind.OUT_OF_MEMORY || ahead == least) {
          throw e;
        }
        allocate(least);
      }
    }
  }

  private void allocate(long bytes) {
    account.reserve(bytes);
    try {
      memory = driver.allocatePinned(bytes);
    } catch (Throwable e) {
      account.release(bytes);
      throw e;
    }
  }

  /** Returns the memory. */
  public MemorySegment segment() {
    return memory.segment();
  }

  /** Returns the device address of the first byte. */
  public long address() {
    return memory.deviceAddress();
  }

  /** Frees the memory, which must not be in use. */
  public void free() {
    if (memory != null) {
      CudaDriver.PinnedMemory old = memory;
      memory = null;
      account.release(old.segment().byteSize());
      old.free();
    }
  }
}
