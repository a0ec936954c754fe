package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import java.lang.foreign.MemorySegment;

/**
 * Pinned host memory that grows on demand by the rule of {@link Growth}. Growing discards the
 * contents.
 */
public final class PinnedBuffer {

  /** Most bytes of a buffer that serves searches. */
  public static final long MAX_BYTES = 1L << 30;

  private static final long GRANULARITY = 1L << 16;

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
      Growth.grow(bytes, wanted, GRANULARITY, this::free, this::allocate, this::allocate);
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
