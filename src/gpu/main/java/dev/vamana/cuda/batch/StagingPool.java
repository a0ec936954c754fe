package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Pinned host memory that holds requests and results; kernels read and write it in place. It is one
 * allocation, since pinning takes about a millisecond a megabyte. Blocks of requests count as host
 * memory in use.
 */
final class StagingPool {

  private static final int UNIT = 1024;

  private final CudaDriver.PinnedMemory memory;
  private final BuddyAllocator allocator;
  private final SessionHostMemory account;
  private final AtomicInteger requests = new AtomicInteger();
  // bytes of the largest block when no request is in memory
  private volatile long most;
  // whether fixed blocks have changed since
  private volatile boolean stale;

  /**
   * Pins memory. The calling thread is bound to the driver.
   *
   * @param bytes at most 1 GiB
   * @throws dev.vamana.cuda.driver.GpuException if the driver refuses
   */
  StagingPool(CudaDriver driver, long bytes, SessionHostMemory account) {
    this.account = account;
    this.memory = driver.allocatePinned(bytes);
    this.allocator = new BuddyAllocator(bytes, UNIT);
    this.most = allocator.largest();
  }

  /**
   * Allocates a block that is not counted by the account, or returns null if no block is large
   * enough.
   */
  Block allocateFixed(long bytes) {
    long offset = allocator.allocate(bytes);
    measure();
    return offset < 0 ? null : new Block(offset, bytes, 0);
  }

  /**
   * Allocates a block, or returns null if no block is large enough now.
   *
   * @throws GpuException if the account refuses the memory, or no block would be large enough if
   *     all were free
   */
  Block allocate(long bytes) {
    if (bytes > most) {
      throw new GpuException(
          GpuException.Kind.OUT_OF_MEMORY,
          bytes + " bytes do not fit staging memory, whose largest block has " + most);
    }
    requests.incrementAndGet();
    long offset = allocator.allocate(bytes);
    if (offset < 0) {
      requests.decrementAndGet();
      return null;
    }
    try {
      account.reserve(bytes);
    } catch (Throwable e) {
      allocator.free(offset);
      requests.decrementAndGet();
      throw e;
    }
    return new Block(offset, bytes, bytes);
  }

  /** Finds the largest block, if no request is in memory; otherwise the last one's end will. */
  private void measure() {
    stale = true;
    if (requests.get() == 0) {
      long largest = allocator.largest();
      if (requests.get() == 0) {
        most = largest;
        stale = false;
      }
    }
  }

  /** Returns the bytes in use. */
  long used() {
    return allocator.used();
  }

  /**
   * Unpins the memory. The calling thread is bound to the driver, and all blocks have been freed.
   */
  void free() {
    memory.free();
  }

  /**
   * A block of the pinned memory, aligned to 1 KiB. Items and results are copied through buffers of
   * it: they are as fast as {@link MemorySegment}'s copies of arrays, of which Lucene's searches
   * should know no other kinds of memory than their own ({@link dev.vamana.vectors.ArrayCopy}).
   */
  final class Block {

    private final long offset;
    private final long counted;
    // the block's memory, and the same to be read and written by index
    final MemorySegment segment;
    final ByteBuffer bytes;
    final IntBuffer ints;
    final LongBuffer longs;
    final FloatBuffer floats;

    private Block(long offset, long bytes, long counted) {
      this.offset = offset;
      this.counted = counted;
      this.segment = memory.segment().asSlice(offset, bytes);
      this.bytes = segment.asByteBuffer().order(ByteOrder.nativeOrder());
      this.ints = this.bytes.asIntBuffer();
      this.longs = this.bytes.asLongBuffer();
      this.floats = this.bytes.asFloatBuffer();
    }

    /** Returns the device address of the first byte. */
    long deviceAddress() {
      return memory.deviceAddress() + offset;
    }

    /** Frees the block, which must not be in use. */
    void free() {
      allocator.free(offset);
      if (counted > 0) {
        account.release(counted);
        if (requests.decrementAndGet() == 0 && stale) {
          measure();
        }
      } else {
        measure();
      }
    }
  }
}
