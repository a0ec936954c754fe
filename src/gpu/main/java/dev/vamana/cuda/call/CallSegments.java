package dev.vamana.cuda.call;

import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.session.ExecutorCounters;
import dev.vamana.cuda.session.GpuSession;
import dev.vamana.cuda.session.SessionKeeper;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.util.IdentityHashMap;
import java.util.concurrent.locks.LockSupport;

/** The segments that one call's {@link CallPlanner} holds on the device. */
final class CallSegments {

  private static final long POLL_NANOS = 1_000_000;

  private final GpuSession session;
  private final SessionKeeper keeper;
  private final ExecutorCounters counters;
  private final IdentityHashMap<SegmentView, ResidentSegment> segments = new IdentityHashMap<>();

  CallSegments(GpuSession session, SessionKeeper keeper, ExecutorCounters counters) {
    this.session = session;
    this.keeper = keeper;
    this.counters = counters;
  }

  /**
   * Holds an item's segment, or returns null if it is not on the device.
   *
   * @param wanted whether it should be uploaded then; no call has asked for an item sent ahead
   * @param wait whether to wait for an upload that is under way
   */
  ResidentSegment hold(WorkItem item, boolean wanted, boolean wait) {
    SegmentView view = item.segment();
    ResidentSegment held = segments.get(view);
    if (held == null
        && (wanted || session.residency.presence(view).state() == DevicePresence.State.RESIDENT)) {
      held = keeper.segments().acquire(session, view);
      if (held == null && wait && keeper.options().waitForUpload()) {
        held = awaitUpload(item);
      }
      if (held != null) {
        segments.put(view, held);
      }
    }
    return held;
  }

  /**
   * Waits while the item's segment is being uploaded. Returns null if no upload was under way or
   * the item is cancelled. Every step looks at the segment's state once, because the segment may
   * arrive between any two looks.
   */
  private ResidentSegment awaitUpload(WorkItem item) {
    ResidentSegment segment = null;
    boolean waited = false;
    boolean interrupted = false;
    long start = System.nanoTime();
    while (segment == null && session.usable() && item.cancelled().getAsBoolean() == false) {
      DevicePresence.State state = session.residency.presence(item.segment()).state();
      // acquire only once, because each acquire counts as a hit or a miss
      if (state == DevicePresence.State.RESIDENT) {
        segment = keeper.segments().acquire(session, item.segment());
      } else if (state != DevicePresence.State.WAITING) {
        break;
      }
      if (segment == null) {
        waited = true;
        LockSupport.parkNanos(this, POLL_NANOS);
        interrupted |= Thread.interrupted();
      }
    }
    if (waited) {
      counters.waitedForUpload(System.nanoTime() - start);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return segment;
  }

  /** Releases all segments. */
  void release() {
    segments.values().forEach(ResidentSegment::release);
    segments.clear();
  }
}
