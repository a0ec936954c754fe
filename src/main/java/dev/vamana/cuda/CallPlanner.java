package dev.vamana.cuda;

import dev.vamana.cuda.batch.HeldSegment;
import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.hostfetch.HostFetch;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.plan.Choice;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.cuda.plan.Task;
import dev.vamana.cuda.scan.ScanLane;
import dev.vamana.cuda.scan.StreamedSegment;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Decides for each item of one call whether the device or the CPU answers it, and by which plan.
 * {@link DeviceCall} asks the planner for a {@link Decision} per item; items that differ only in
 * their query share one decision.
 */
final class CallPlanner {

  private static final long POLL_NANOS = 1_000_000;

  private final GpuSession session;
  private final SessionKeeper keeper;
  private final Counters counters;
  private final BatchSizes sizes;
  private final PlanMode mode;
  private final IdentityHashMap<SegmentView, HeldSegment> segments = new IdentityHashMap<>();
  private final Map<Kind, Decision> decisions = new HashMap<>();
  private Kind last;
  private Decision lastDecision;

  /**
   * Makes a planner for one call.
   *
   * @param batch the call's items
   * @param threads number of threads with which the CPU answers
   */
  CallPlanner(
      GpuSession session,
      SessionKeeper keeper,
      Counters counters,
      PlanLoad load,
      List<WorkItem> batch,
      int threads) {
    this.session = session;
    this.keeper = keeper;
    this.counters = counters;
    this.mode = keeper.planMode();
    this.sizes = new BatchSizes(batch, threads, load);
  }

  /**
   * Returns the decision for an item, and counts a fallback if the CPU answers the item.
   *
   * @param wanted false for an item that was sent ahead: it is dropped unless the device has its
   *     segment
   */
  Decision plan(WorkItem item, boolean wanted) throws IOException {
    if (last == null || last.alike(item) == false) {
      last = new Kind(item);
      lastDecision = decisions.get(last);
      if (lastDecision == null) {
        lastDecision = decide(item, wanted);
        decisions.put(last, lastDecision);
      }
    }
    if (lastDecision.reason() != null && wanted) {
      counters.fallback(lastDecision.reason(), 1, lastDecision.detail());
    }
    return lastDecision;
  }

  /** Key of items that differ only in their query. */
  private record Kind(WorkItem first) {

    @SuppressWarnings("ReferenceEquality") // the key is the same bitset object, not an equal one
    boolean alike(WorkItem item) {
      return first.segment() == item.segment()
          && first.k() == item.k()
          && first.acceptedOrdinals() == item.acceptedOrdinals()
          && first.acceptedCount() == item.acceptedCount()
          && first.visitLimit() == item.visitLimit()
          && first.entryPoints().length == item.entryPoints().length
          && first.walk().equals(item.walk());
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Kind kind && alike(kind.first);
    }

    @Override
    public int hashCode() {
      return 31 * System.identityHashCode(first.segment())
          + System.identityHashCode(first.acceptedOrdinals());
    }
  }

  private Decision decide(WorkItem item, boolean wanted) throws IOException {
    SegmentView view = item.segment();
    int batch = sizes.together(item);
    double rounds = sizes.cpuRounds(batch);
    boolean scans = CpuExecutor.plansScan(item);
    if (mode == PlanMode.CPU) {
      return cpu(Tasks.of(item, Task.Rows.NONE, batch, null, rounds), FallbackReason.PLANNED, null);
    }
    if (view.rawComparison() != null) {
      return cpu(
          Tasks.of(item, Task.Rows.NONE, batch, null, rounds),
          scans ? FallbackReason.SCAN : FallbackReason.UNSUPPORTED,
          view.name() + " has vectors too small for scores");
    }
    if (scans) {
      Task task = Tasks.of(item, Task.Rows.DEVICE, batch, null, rounds);
      boolean cpu =
          switch (mode) {
            case AUTO -> session.chooser.sureOfCpu(task);
            case EXACT -> false;
            case GRAPH, CPU -> true;
          };
      if (cpu || view.hasGraph() == false || Tasks.exactFits(item) == false) {
        return cpu(task, FallbackReason.SCAN, view.name());
      }
    }
    HeldSegment segment = hold(item, wanted && scans == false);
    if (segment == null && wanted == false) {
      return cpu(
          Tasks.of(item, Task.Rows.NONE, batch, null, rounds),
          FallbackReason.NOT_RESIDENT,
          view.name());
    }
    return segment == null
        ? decideAbsent(item, batch, rounds)
        : decide(item, segment, batch, rounds);
  }

  /** Decides for an item whose segment is not on the device. */
  private Decision decideAbsent(WorkItem item, int batch, double rounds) throws IOException {
    SegmentView view = item.segment();
    if (session.residency.damaged(view)) {
      return cpu(
          Tasks.of(item, Task.Rows.NONE, batch, null, rounds),
          FallbackReason.DAMAGED,
          view.name() + " has a damaged file");
    }
    boolean exact = mode == PlanMode.AUTO || mode == PlanMode.EXACT;
    if (exact && Tasks.exactFits(item) && keeper.know(view)) {
      ScanLane.Ahead ahead = session.scans.ahead(view, item.acceptedOrdinals());
      Task task = Tasks.of(item, Task.Rows.STREAMED, batch + ahead.together(), null, rounds);
      Choice choice = session.chooser.choose(task, mode, ahead.nanos());
      MemorySegment file = choice.plan().exactOnDevice() ? Tasks.file(view) : null;
      if (file != null) {
        return Decision.exact(choice, new HeldSegment(new StreamedSegment(view)), file);
      }
    }
    Task task = Tasks.of(item, Task.Rows.NONE, batch, null, rounds);
    return cpu(
        task, task.cpu().scans() ? FallbackReason.SCAN : FallbackReason.NOT_RESIDENT, view.name());
  }

  /** Decides for an item whose segment is on the device. */
  private Decision decide(WorkItem item, HeldSegment segment, int batch, double rounds)
      throws IOException {
    SegmentView view = item.segment();
    boolean hopeless = item.visitLimit() < StoredAdjacency.stride(view.maxDegree());
    boolean fetched = segment.placement() == Placement.HOST_FETCH && HostFetch.supports(item);
    ItemPlan plan = hopeless || fetched ? null : ItemPlan.of(item, segment);
    Task.Walk walk = null;
    if (hopeless == false && (fetched || plan != null)) {
      walk = Tasks.walk(item, segment.placement(), sizes.walking());
    }
    ScanLane.Ahead ahead = session.scans.ahead(view, item.acceptedOrdinals());
    int together = batch + ahead.together();
    Task.Rows rows = Tasks.rows(item, segment, together);
    Task task = Tasks.of(item, rows, together, walk, rounds);
    Choice choice = session.chooser.choose(task, mode, ahead.nanos());
    MemorySegment file = null;
    if (rows == Task.Rows.STREAMED && choice.plan().exactOnDevice()) {
      file = Tasks.file(view);
      if (file == null) {
        task = Tasks.of(item, Tasks.inPlace(item, segment), together, walk, rounds);
        choice = session.chooser.choose(task, mode, ahead.nanos());
      }
    }
    if (choice.plan() == Plan.GRAPH) {
      return Decision.walk(choice, segment, plan);
    }
    if (choice.plan() != Plan.CPU) {
      return Decision.exact(choice, segment, file);
    }
    if (task.cpu().scans()) {
      return Decision.cpu(choice, FallbackReason.SCAN, view.name());
    }
    if (hopeless) {
      return Decision.cpu(choice, FallbackReason.VISIT_LIMIT, "limit " + item.visitLimit());
    }
    return walk == null
        ? Decision.cpu(
            choice,
            FallbackReason.UNSUPPORTED,
            view.name() + " placed as " + segment.placement().settingName())
        : Decision.cpu(choice, FallbackReason.PLANNED, view.name());
  }

  private Decision cpu(Task task, FallbackReason reason, String detail) {
    return Decision.cpu(session.chooser.choose(task, PlanMode.CPU, 0), reason, detail);
  }

  private HeldSegment hold(WorkItem item, boolean wait) {
    SegmentView view = item.segment();
    HeldSegment held = segments.get(view);
    if (held == null) {
      ResidentSegment segment = keeper.acquire(session, view);
      if (segment == null && wait && keeper.waitForUpload()) {
        segment = awaitUpload(item);
      }
      if (segment != null) {
        held = new HeldSegment(segment);
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
        segment = keeper.acquire(session, item.segment());
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

  /**
   * Releases the planner's hold on segments. Chunks and scans hold the segments they use
   * themselves.
   */
  void close() {
    segments.values().forEach(HeldSegment::release);
    segments.clear();
  }
}
