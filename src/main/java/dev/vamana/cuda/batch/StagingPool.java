package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.CudaDriver;
import java.lang.foreign.MemorySegment;

/**
 * Pinned memory that requests and results are in while the device works on them; it reads and
 * writes there in place. One allocation, since pinning takes about a millisecond a megabyte.
 */
final class StagingPool {

  private static final int UNIT = 1024;

  private final CudaDriver.PinnedMemory memory;
  private final BuddyAllocator allocator;

  /**
   * Pins memory; the calling thread is bound to the driver.
   *
   * @param bytes at most 1 GiB
   * @throws dev.vamana.cuda.driver.GpuException if there is not so much
   */
  StagingPool(CudaDriver driver, long bytes) {
    this.memory = driver.allocatePinned(bytes);
    this.allocator = new BuddyAllocator(bytes, UNIT);
  }

  /** A block of at least so many bytes, or null if there is none now. */
  Block allocate(long bytes) {
    long offset = allocator.allocate(bytes);
    return offset < 0 ? null : new Block(offset, bytes);
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
    private final MemorySegment segment;

    private Block(long offset, long bytes) {
      this.offset = offset;
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
    }
  }
}
