package dev.vamana.cuda.memory;

import dev.vamana.search.SegmentView;

/**
 * A segment on the device, shared by a call and its tickets. {@link Residency#acquire} returns it
 * with one use. Each use has to be released once, when the launches of it have ended; the memory
 * stays valid until then.
 */
public interface ResidentSegment {

  /** Returns the segment's lease, which says whether the segment is being closed. */
  Lease lease();

  /** Returns the segment. */
  default SegmentView view() {
    return lease().view();
  }

  /** Returns the segment's placement. */
  Placement placement();

  /**
   * Device address of the segment's {@code vamana::Segment}, declared in
   * native-kernels/include/vamana/types.h.
   */
  long descriptor();

  /**
   * Whether walks compare copies in bytes that are the vectors themselves, so that distances to
   * queries of integers from 0 to 255 are exact.
   */
  boolean wholeCopies();

  /** Whether kernels can re-rank with exact vectors; otherwise the caller has to. */
  boolean reranksOnDevice();

  /** Returns the exact vectors, or null if kernels cannot read them. */
  ResidentRows rows();

  /** Returns the places for bits of accepted ordinals. */
  ResidentBits bits();

  /** Adds a use, while there is another one. */
  void hold();

  /** Ends a use. Never throws. */
  void release();
}
