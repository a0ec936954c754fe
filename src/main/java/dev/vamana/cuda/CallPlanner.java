package dev.vamana.cuda;

import dev.vamana.cuda.batch.HeldSegment;
import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.hostfetch.HostFetch;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.concurrent.locks.LockSupport;

/** Decides for the items of one call whether they go to the device, and how. */
final class CallPlanner {

  private static final long POLL_NANOS = 1_000_000;

  private final GpuSession session;
  private final SessionKeeper keeper;
  private final Counters counters;
  private final boolean waitForUpload;
  private final IdentityHashMap<SegmentView, HeldSegment> segments = new IdentityHashMap<>();
  private WorkItem last;
  private ItemPlan lastPlan;
  private FallbackReason lastReason;
  private String lastDetail;
  private HeldSegment lastFetched;

  CallPlanner(GpuSession session, SessionKeeper keeper, Counters counters, boolean waitForUpload) {
    this.session = session;
    this.keeper = keeper;
    this.counters = counters;
    this.waitForUpload = waitForUpload;
  }

  /** The plan of an item, or null if it is {@link #fetched} or the CPU's; that is counted. */
  ItemPlan plan(WorkItem item) throws IOException {
    if (last == null || alike(last, item) == false) {
      lastReason = null;
      lastDetail = null;
      lastFetched = null;
      lastPlan = decide(item);
      last = item;
    }
    if (lastPlan == null && lastFetched == null) {
      counters.fallback(lastReason, 1, lastDetail);
    }
    return lastPlan;
  }

  /** The segment of the item that was planned last, if the CPU fetches its neighbours; or null. */
  HeldSegment fetched() {
    return lastFetched;
  }

  @SuppressWarnings("ReferenceEquality") // the same bitset, not one that happens to be equal
  private static boolean alike(WorkItem a, WorkItem b) {
    return a.segment() == b.segment()
        && a.k() == b.k()
        && a.acceptedOrdinals() == b.acceptedOrdinals()
        && a.acceptedCount() == b.acceptedCount()
        && a.visitLimit() == b.visitLimit()
        && a.entryPoints().length == b.entryPoints().length
        && a.walk().equals(b.walk());
  }

  private ItemPlan decide(WorkItem item) throws IOException {
    SegmentView view = item.segment();
    if (CpuExecutor.plansScan(item)) {
      return cpu(FallbackReason.SCAN, view.name());
    }
    if (item.visitLimit() < StoredAdjacency.stride(view.maxDegree())) {
      return cpu(FallbackReason.VISIT_LIMIT, "limit " + item.visitLimit());
    }
    HeldSegment segment = hold(item);
    if (segment == null) {
      return cpu(FallbackReason.NOT_RESIDENT, view.name());
    }
    if (segment.placement() == Placement.HOST_FETCH && HostFetch.supports(item)) {
      lastFetched = segment;
      return null;
    }
    ItemPlan plan = ItemPlan.of(item, segment);
    return plan != null
        ? plan
        : cpu(
            FallbackReason.UNSUPPORTED,
            view.name() + " placed as " + segment.placement().settingName());
  }

  private ItemPlan cpu(FallbackReason reason, String detail) {
    lastReason = reason;
    lastDetail = detail;
    return null;
  }

  private HeldSegment hold(WorkItem item) {
    SegmentView view = item.segment();
    HeldSegment held = segments.get(view);
    if (held == null) {
      ResidentSegment segment = keeper.acquire(session, view);
      if (segment == null && waitForUpload) {
        segment = awaitUpload(item);
      }
      if (segment != null) {
        held = new HeldSegment(segment);
        segments.put(view, held);
      }
    }
    return held;
  }

  /** Waits while the item's segment is on its way; null if it was not, or is cancelled. */
  private ResidentSegment awaitUpload(WorkItem item) {
    if (onItsWay(item) == false) {
      return null;
    }
    ResidentSegment segment = null;
    boolean interrupted = false;
    long start = System.nanoTime();
    do {
      LockSupport.parkNanos(this, POLL_NANOS);
      interrupted |= Thread.interrupted();
      // not at every step: each is counted as a hit or a miss
      if (onItsWay(item) == false) {
        segment = keeper.acquire(session, item.segment());
      }
    } while (segment == null && onItsWay(item));
    counters.waitedForUpload(System.nanoTime() - start);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return segment;
  }

  private boolean onItsWay(WorkItem item) {
    return session.usable()
        && session.residency.presence(item.segment()).state() == DevicePresence.State.WAITING
        && item.cancelled().getAsBoolean() == false;
  }

  /** Ends the call's hold on segments; chunks have their own. */
  void close() {
    segments.values().forEach(HeldSegment::release);
    segments.clear();
  }
}
