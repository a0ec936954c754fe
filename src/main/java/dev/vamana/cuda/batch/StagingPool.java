package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.lang.foreign.MemorySegment;

/**
 * Pinned memory that requests and results are in while the device works on them; it reads and
 * writes there in place. One allocation, since pinning takes about a millisecond a megabyte. Blocks
 * that requests are in count as host memory in use.
 */
final class StagingPool {

  private static final int UNIT = 1024;

  private final CudaDriver.PinnedMemory memory;
  private final BuddyAllocator allocator;
  private final SessionHostMemory account;

  /**
   * Pins memory; the calling thread is bound to the driver.
   *
   * @param bytes at most 1 GiB
   * @throws dev.vamana.cuda.driver.GpuException if there is not so much
   */
  StagingPool(CudaDriver driver, long bytes, SessionHostMemory account) {
    this.account = account;
    this.memory = driver.allocatePinned(bytes);
    this.allocator = new BuddyAllocator(bytes, UNIT);
  }

  /** A block of at least so many bytes that is not counted, or null if there is none now. */
  Block allocateFixed(long bytes) {
    long offset = allocator.allocate(bytes);
    return offset < 0 ? null : new Block(offset, bytes, 0);
  }

  /**
   * A block of at least so many bytes, or null if there is none now.
   *
   * @throws dev.vamana.cuda.driver.GpuException if the account refuses them
   */
  Block allocate(long bytes) {
    long offset = allocator.allocate(bytes);
    if (offset < 0) {
      return null;
    }
    boolean counted = false;
    try {
      account.reserve(bytes);
      counted = true;
    } finally {
      if (counted == false) {
        allocator.free(offset);
      }
    }
    return new Block(offset, bytes, bytes);
  }

  /** Bytes in use. */
  long used() {
    return allocator.used();
  }

  /** Unpins; the calling thread is bound to the driver, and all blocks have been freed. */
  void free() {
    memory.free();
  }

  /** A part of the pinned memory, aligned to 1 KiB. */
  final class Block {

    private final long offset;
    private final long counted;
    private final MemorySegment segment;

    private Block(long offset, long bytes, long counted) {
      this.offset = offset;
      this.counted = counted;
      this.segment = memory.segment().asSlice(offset, bytes);
    }

    /** The bytes. */
    MemorySegment segment() {
      return segment;
    }

    /** Where the device sees the first of them. */
    long deviceAddress() {
      return memory.deviceAddress() + offset;
    }

    /** Gives the block back; nobody may be using it. */
    void free() {
      allocator.free(offset);
      account.release(counted);
    }
  }
}
