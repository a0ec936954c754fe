package dev.vamana.cuda.batch;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/**
 * Accepted ordinals where kernels can read them: in pinned memory, and, if they are looked up often
 * enough to pay for the copy, in device memory. Shared by all items of a call that have the same
 * {@link Bits}; counted by the chunks that use them.
 */
final class AcceptedBits {

  // a lookup in pinned memory moves 32 bytes over the bus
  private static final int LOOKUP_BYTES = 32;

  private final StagingPool.Block block;
  private final DevicePool pool;
  private final long deviceCopy;
  private final AtomicInteger users = new AtomicInteger(1);
  // touched by the dispatcher alone
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
   * @param lookups about how many of them kernels will ask for
   * @return the copy, with one user, or null if there is no pinned memory now
   * @throws dev.vamana.cuda.driver.GpuException if more of it is refused
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
      MemorySegment.copy(bits.getBits(), 0, target, ValueLayout.JAVA_LONG, 0, words);
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

  /** Where kernels read them. */
  long deviceAddress() {
    return deviceCopy != 0 ? deviceCopy : block.deviceAddress();
  }

  /** Adds a user. */
  void acquire() {
    users.incrementAndGet();
  }

  /** Ends a use; the last one frees the memory. */
  void release() {
    if (users.decrementAndGet() == 0) {
      block.free();
      if (deviceCopy != 0) {
        pool.free(deviceCopy);
      }
    }
  }

  /** Sees to it that the device's copy is there when what follows in the slot's stream runs. */
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

  /** The launch that should have copied them failed. */
  void forgetCopy(LaunchSlot slot) {
    if (copiedBy == slot) {
      copiedBy = null;
    }
  }
}
