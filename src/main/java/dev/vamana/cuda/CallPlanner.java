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

    // the key is the same bitset object, not an equal one; items of a call share a walk
    @SuppressWarnings("ReferenceEquality")
    boolean alike(WorkItem item) {
      return first.segment() == item.segment()
          && first.k() == item.k()
          && first.acceptedOrdinals() == item.acceptedOrdinals()
          && first.acceptedCount() == item.acceptedCount()
          && first.visitLimit() == item.visitLimit()
          && first.entryPoints().length == item.entryPoints().length
          && (first.walk() == item.walk() || first.walk().equals(item.walk()));
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
        ? decideAbsent(item, scans, batch, rounds)
        : decide(item, segment, scans, batch, rounds);
  }

  /** Decides for an item whose segment is not on the device. */
  private Decision decideAbsent(WorkItem item, boolean scans, int batch, double rounds)
      throws IOException {
    SegmentView view = item.segment();
    if (session.residency.damaged(view)) {
      return cpu(
          Tasks.of(item, Task.Rows.NONE, batch, null, rounds),
          FallbackReason.DAMAGED,
          view.name() + " has a damaged file");
    }
    boolean streams = mode == PlanMode.AUTO || mode == PlanMode.EXACT;
    MemorySegment file = streams && Tasks.exactFits(item) ? Tasks.file(view) : null;
    boolean exact = scans || (file != null && prefersExact(item, Task.Rows.STREAMED, batch, null));
    CpuExecutor.Way way = exact ? CpuExecutor.Way.SCAN : CpuExecutor.Way.BY_RULE;
    if (file != null && (exact || mode == PlanMode.EXACT) && keeper.know(view)) {
      ScanLane.Ahead ahead = session.scans.ahead(view, item.acceptedOrdinals());
      int together = batch + ahead.together();
      Task task = task(item, exact, Task.Rows.STREAMED, together, null, rounds);
      Choice choice = session.chooser.choose(task, mode, ahead.nanos());
      if (choice.plan().exactOnDevice()) {
        return Decision.exact(choice, new HeldSegment(new StreamedSegment(view)), file);
      }
    }
    Task task = task(item, exact, Task.Rows.NONE, batch, null, rounds);
    return cpu(task, exact ? FallbackReason.SCAN : FallbackReason.NOT_RESIDENT, view.name(), way);
  }

  /**
   * Whether an item that the CPU would walk is answered exactly. It depends on the request, the
   * segment, its place and the device: not on what else the node does.
   *
   * @param walk how the device would walk this call's items alone, or null
   */
  private boolean prefersExact(WorkItem item, Task.Rows rows, int batch, Task.Walk walk) {
    return mode == PlanMode.AUTO
        && session.chooser.prefersExact(Tasks.of(item, rows, batch, walk, sizes.ownRounds(batch)));
  }

  private static Task task(
      WorkItem item, boolean exact, Task.Rows rows, int batch, Task.Walk walk, double rounds) {
    Task task = Tasks.of(item, rows, batch, walk, rounds);
    return exact ? task.scanned() : task;
  }

  /** Decides for an item whose segment is on the device. */
  private Decision decide(
      WorkItem item, HeldSegment segment, boolean scans, int batch, double rounds)
      throws IOException {
    SegmentView view = item.segment();
    Placement placement = segment.placement();
    boolean hopeless = item.visitLimit() < StoredAdjacency.stride(view.maxDegree());
    boolean fetched = placement == Placement.HOST_FETCH && HostFetch.supports(item);
    ItemPlan plan = hopeless || fetched ? null : ItemPlan.of(item, segment);
    boolean walks = hopeless == false && (fetched || plan != null);
    boolean exact =
        scans
            || prefersExact(
                item,
                readable(item, segment, batch),
                batch,
                walks ? Tasks.walk(item, placement, batch) : null);
    CpuExecutor.Way way = way(placement, exact, walks);
    Task.Walk walk = walks ? Tasks.walk(item, placement, sizes.walking()) : null;
    ScanLane.Ahead ahead = session.scans.ahead(view, item.acceptedOrdinals());
    int together = batch + ahead.together();
    boolean reads = exact || mode == PlanMode.EXACT;
    Task.Rows rows = reads ? readable(item, segment, together) : Task.Rows.NONE;
    Task task = task(item, exact, rows, together, walk, rounds);
    // the CPU has no copies of vectors, so its answers may differ
    boolean device = mode == PlanMode.AUTO && exact == false && walks && copies(placement);
    Choice choice = session.chooser.choose(task, device ? PlanMode.GRAPH : mode, ahead.nanos());
    MemorySegment file =
        rows == Task.Rows.STREAMED && choice.plan().exactOnDevice() ? Tasks.file(view) : null;
    if (choice.plan() == Plan.GRAPH) {
      return Decision.walk(choice, segment, plan, way);
    }
    if (choice.plan() != Plan.CPU) {
      return Decision.exact(choice, segment, file);
    }
    if (exact) {
      return Decision.cpu(choice, FallbackReason.SCAN, view.name(), way);
    }
    if (hopeless) {
      return Decision.cpu(choice, FallbackReason.VISIT_LIMIT, "limit " + item.visitLimit(), way);
    }
    return walk == null
        ? Decision.cpu(
            choice,
            FallbackReason.UNSUPPORTED,
            view.name() + " placed as " + placement.settingName(),
            way)
        : Decision.cpu(choice, FallbackReason.PLANNED, view.name(), way);
  }

  /** Returns how the CPU answers as the device would. */
  private static CpuExecutor.Way way(Placement placement, boolean exact, boolean walks) {
    if (exact) {
      return CpuExecutor.Way.SCAN;
    }
    if (walks == false) {
      return CpuExecutor.Way.BY_RULE;
    }
    return switch (placement) {
      case EXACT, EXACT_FLOAT16, EXACT_INT8 -> CpuExecutor.Way.BY_RULE;
      case IN_MEMORY, MAPPED_GRAPH, HOST_FETCH -> CpuExecutor.Way.WALK_CODES;
    };
  }

  /** Returns how the device gets exact vectors, which it cannot stream from all directories. */
  private static Task.Rows readable(WorkItem item, HeldSegment segment, int batch)
      throws IOException {
    Task.Rows rows = Tasks.rows(item, segment, batch);
    return rows == Task.Rows.STREAMED && Tasks.file(item.segment()) == null
        ? Tasks.inPlace(item, segment)
        : rows;
  }

  private static boolean copies(Placement placement) {
    return placement == Placement.EXACT_FLOAT16 || placement == Placement.EXACT_INT8;
  }

  private Decision cpu(Task task, FallbackReason reason, String detail) {
    return cpu(task, reason, detail, CpuExecutor.Way.BY_RULE);
  }

  private Decision cpu(Task task, FallbackReason reason, String detail, CpuExecutor.Way way) {
    return Decision.cpu(session.chooser.choose(task, PlanMode.CPU, 0), reason, detail, way);
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
