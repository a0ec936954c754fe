package dev.vamana.cuda.batch;

import dev.vamana.cuda.memory.ResidentBits;
import dev.vamana.cuda.memory.ResidentSegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.util.Bits;

/**
 * Accepted ordinals that kernels can read, shared by all items of a call with the same {@link Bits}
 * object. They are on the device since an earlier call, or are copied to pinned memory. From there
 * they are also copied to the device if that pays: kernels look up enough bits, or later calls will
 * bring the same object. It counts the chunks that use it.
 */
final class AcceptedBits {

  // a lookup in pinned memory moves 32 bytes over the bus
  private static final int LOOKUP_BYTES = 32;

  private final Bits bits;
  // null if the bits are on the device
  private final StagingPool.Block block;
  // null if kernels read pinned memory
  private final ResidentBits.Place place;
  private final AtomicInteger users = new AtomicInteger(1);
  // only the lane's thread reads and writes these, before the last user leaves
  private LaunchSlot copiedBy;
  private long copiedIn;

  private AcceptedBits(Bits bits, StagingPool.Block block, ResidentBits.Place place) {
    this.bits = bits;
    this.block = block;
    this.place = place;
  }

  /**
   * Finds accepted ordinals on the device, or copies them into pinned memory.
   *
   * @param segment the segment of the ordinals
   * @param lookups estimated number of lookups by kernels
   * @return the bits, with one user, or null if pinned memory is in use up to its last block
   * @throws dev.vamana.cuda.driver.GpuException if the account refuses the memory
   */
  static AcceptedBits of(
      Bits accepted, ResidentSegment segment, long lookups, StagingPool staging) {
    ResidentBits places = segment.bits();
    ResidentBits.Place there = places == null ? null : places.find(accepted);
    if (there != null) {
      return new AcceptedBits(accepted, null, there);
    }
    int size = segment.view().size();
    long bytes = ResidentBits.bytes(size);
    StagingPool.Block block = staging.allocate(bytes);
    if (block == null) {
      return null;
    }
    ResidentBits.write(accepted, size, block.segment);
    boolean pays =
        lookups * LOOKUP_BYTES > bytes
            || segment.view().acceptedOrdinals().shared(accepted) != null;
    return new AcceptedBits(accepted, block, places != null && pays ? places.reserve() : null);
  }

  /** Returns the address from which kernels read the bits. */
  long deviceAddress() {
    return place != null ? place.address() : block.deviceAddress();
  }

  /** Adds a user. */
  void acquire() {
    users.incrementAndGet();
  }

  /** Ends a use. The last user's release frees the pinned memory and keeps the device's copy. */
  void release() {
    if (users.decrementAndGet() > 0) {
      return;
    }
    if (copiedBy != null) {
      place.filled(bits);
    }
    if (place != null) {
      place.release();
    }
    if (block != null) {
      block.free();
    }
  }

  /**
   * Makes the device's copy available to everything that follows in the slot's stream. The first
   * slot copies; other slots wait for its copy.
   */
  void bring(LaunchSlot slot) {
    if (place == null || block == null) {
      return;
    }
    if (copiedBy == null) {
      slot.copy(place.address(), block.segment);
      copiedBy = slot;
      copiedIn = slot.launches;
    } else if (copiedBy != slot && copiedBy.launches == copiedIn) {
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
