package dev.vamana.cuda.batch;

import dev.vamana.vectors.ArrayCopy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/**
 * A copy of accepted ordinals that kernels can read, shared by all items of a call with the same
 * {@link Bits} object. The copy is in pinned memory, and also in device memory if kernels look up
 * enough bits to pay for a second copy. It counts the chunks that use it.
 */
final class AcceptedBits {

  // a lookup in pinned memory moves 32 bytes over the bus
  private static final int LOOKUP_BYTES = 32;

  private final StagingPool.Block block;
  private final DevicePool pool;
  private final long deviceCopy;
  private final AtomicInteger users = new AtomicInteger(1);
  // only the lane's thread reads and writes these
  private LaunchSlot copiedBy;
  private long copiedIn;

  private AcceptedBits(StagingPool.Block block, DevicePool pool, long deviceCopy) {
    this.block = block;
    this.pool = pool;
    this.deviceCopy = deviceCopy;
  }

  /**
   * Copies accepted ordinals into pinned memory.
   *
   * @param size number of ordinals
   * @param lookups estimated number of lookups by kernels
   * @return the copy, with one user, or null if pinned memory is in use up to its last block
   * @throws dev.vamana.cuda.driver.GpuException if the account refuses the memory
   */
  static AcceptedBits copy(
      Bits accepted, int size, long lookups, StagingPool staging, DevicePool pool) {
    int words = FixedBitSet.bits2words(size);
    long bytes = (long) words * Long.BYTES;
    StagingPool.Block block = staging.allocate(bytes);
    if (block == null) {
      return null;
    }
    MemorySegment target = block.segment();
    if (accepted instanceof FixedBitSet bits && bits.getBits().length >= words) {
      ArrayCopy.toMemory(bits.getBits(), 0, target, 0, words);
    } else {
      for (int word = 0; word < words; word++) {
        long value = 0;
        for (int o = word << 6, end = Math.min(size, o + 64); o < end; o++) {
          if (accepted.get(o)) {
            value |= 1L << o;
          }
        }
        target.setAtIndex(ValueLayout.JAVA_LONG, word, value);
      }
    }
    long deviceCopy = lookups * LOOKUP_BYTES > bytes ? pool.allocate(bytes) : 0;
    return new AcceptedBits(block, pool, deviceCopy);
  }

  /** Returns the address from which kernels read the bits. */
  long deviceAddress() {
    return deviceCopy != 0 ? deviceCopy : block.deviceAddress();
  }

  /** Adds a user. */
  void acquire() {
    users.incrementAndGet();
  }

  /** Ends a use. The last user's release frees the memory. */
  void release() {
    if (users.decrementAndGet() == 0) {
      block.free();
      if (deviceCopy != 0) {
        pool.free(deviceCopy);
      }
    }
  }

  /**
   * Makes the device's copy available to everything that follows in the slot's stream. The first
   * slot copies; other slots wait for its copy.
   */
  void bring(LaunchSlot slot) {
    if (deviceCopy == 0) {
      return;
    }
    if (copiedBy == null) {
      slot.copy(deviceCopy, block.segment());
      copiedBy = slot;
      copiedIn = slot.launches();
    } else if (copiedBy != slot && copiedBy.launches() == copiedIn) {
      slot.waitForCopies(copiedBy);
    }
  }

  /** Forgets the device's copy after the launch that should have made it has failed. */
  void forgetCopy(LaunchSlot slot) {
    if (copiedBy == slot) {
      copiedBy = null;
    }
  }
}
