package dev.vamana.cuda.lane;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentBits;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.SegmentView;

/**
 * A segment and its place on the device, shared by a call and its tickets, of which each has a use
 * of the place. {@code dev.vamana.cuda.call.CallPlanner} makes one for each segment of a call.
 *
 * @param place the acquired segment, with its use; null for a segment whose vectors are streamed
 */
public record HeldSegment(Lease lease, ResidentSegment place) {

  /** Adds a holder, which has to call {@link #release}. */
  public void hold() {
    if (place != null) {
      place.hold();
    }
  }

  /** Ends a hold. */
  public void release() {
    if (place != null) {
      place.release();
    }
  }

  /** Returns the segment. */
  public SegmentView view() {
    return lease.view();
  }

  /** Returns the placement, or null if the segment is not on the device. */
  public Placement placement() {
    return place == null ? null : place.placement();
  }

  /** As {@link ResidentSegment#descriptor}; 0 if the segment is not on the device. */
  public long descriptor() {
    return place == null ? 0 : place.descriptor();
  }

  /** As {@link ResidentSegment#wholeCopies}. */
  public boolean wholeCopies() {
    return place != null && place.wholeCopies();
  }

  /** As {@link ResidentSegment#reranksOnDevice}. */
  public boolean reranksOnDevice() {
    return place != null && place.reranksOnDevice();
  }

  /** As {@link ResidentSegment#bits}; null if the segment is not on the device. */
  public ResidentBits bits() {
    return place == null ? null : place.bits();
  }

  /** As {@link ResidentSegment#rows}. */
  public ResidentRows rows() {
    return place == null ? null : place.rows();
  }
}
