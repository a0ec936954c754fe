package dev.vamana.cuda.call;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.lane.HeldSegment;
import dev.vamana.cuda.lane.Lease;
import dev.vamana.cuda.plan.Choice;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.cuda.plan.Workload;
import dev.vamana.cuda.scan.ScanLane;
import dev.vamana.cuda.session.ExecutorCounters;
import dev.vamana.cuda.session.GpuSession;
import dev.vamana.cuda.session.SessionKeeper;
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
public final class CallPlanner {

  private static final long POLL_NANOS = 1_000_000;

  private final GpuSession session;
  private final SessionKeeper keeper;
  private final ExecutorCounters counters;
  private final BatchSizes sizes;
  private final PlanMode mode;
  private final Routes routes;
  private final RoutePlanner planner;
  private final Families families;
  private final boolean single;
  private final IdentityHashMap<SegmentView, HeldSegment> segments = new IdentityHashMap<>();
  private final Map<Request, Decision> decisions = new HashMap<>();
  private WorkItem.Terms last;
  private Decision lastDecision;
  private Routes.Known first;

  /**
   * Makes a planner for one call.
   *
   * @param routes what was decided for items like these
   * @param who decides between the CPU and the device
   * @param families all open segments
   * @param batch the call's items
   * @param threads number of threads with which the CPU answers
   * @param single whether the call is a single query's
   */
  public CallPlanner(
      GpuSession session,
      SessionKeeper keeper,
      ExecutorCounters counters,
      PlanLoad load,
      Routes routes,
      WhoAnswers who,
      Families families,
      List<WorkItem> batch,
      int threads,
      boolean single) {
    this.session = session;
    this.keeper = keeper;
    this.counters = counters;
    this.mode = keeper.options().plans().mode();
    this.routes = routes;
    this.families = families;
    this.single = single;
    this.planner = new RoutePlanner(session, mode, routes, who, families);
    this.sizes = new BatchSizes(batch, threads, load);
  }

  /**
   * Returns the decision for items of equal terms, and counts fallbacks if the CPU answers them.
   *
   * @param item the first of them
   * @param count number of them
   * @param wanted false for items that were sent ahead: they are dropped unless the device has
   *     their segment
   */
  @SuppressWarnings("ReferenceEquality") // items that differ only in their query share their terms
  Decision plan(WorkItem item, int count, boolean wanted) throws IOException {
    if (item.terms() != last) {
      last = item.terms();
      Request request = new Request(last);
      lastDecision = decisions.get(request);
      if (lastDecision == null) {
        lastDecision = decide(item, sizes.together(item), wanted);
        decisions.put(request, lastDecision);
      }
    }
    if (lastDecision.reason() != null && wanted) {
      counters.fallback(lastDecision.reason(), count, lastDecision.detail());
    }
    return lastDecision;
  }

  /** Key of items that differ only in their query, also if each has terms of its own. */
  private record Request(WorkItem.Terms terms) {

    // the same bitset object, not an equal one
    @Override
    @SuppressWarnings("ReferenceEquality")
    public boolean equals(Object other) {
      return other instanceof Request request
          && request.terms.segment() == terms.segment()
          && request.terms.k() == terms.k()
          && request.terms.acceptedOrdinals() == terms.acceptedOrdinals()
          && request.terms.acceptedCount() == terms.acceptedCount()
          && request.terms.visitLimit() == terms.visitLimit()
          && request.terms.entryPoints().length == terms.entryPoints().length
          && request.terms.walk().equals(terms.walk());
    }

    @Override
    public int hashCode() {
      return 31 * System.identityHashCode(terms.segment())
          + System.identityHashCode(terms.acceptedOrdinals());
    }
  }

  /** Returns the route of a single query's first item; null if nothing was decided about it. */
  public Routes.Known first() {
    return first;
  }

  private Decision decide(WorkItem item, int batch, boolean wanted) throws IOException {
    SegmentView view = item.segment();
    Routes.Known known = batch == 1 ? routes.find(item) : null;
    boolean scans = known == null ? CpuExecutor.plansScan(item) : known.route().scans();
    Asked asked = new Asked(item, scans, batch, sizes);
    if (mode == PlanMode.CPU) {
      return cpu(asked, FallbackReason.PLANNED, null);
    }
    if (view.rawComparison() != null) {
      return cpu(
          asked,
          asked.scans() ? FallbackReason.SCAN : FallbackReason.UNSUPPORTED,
          view.name() + " has vectors too small for scores");
    }
    if (view.hasLists()) {
      return decideLists(asked, known, wanted);
    }
    if (asked.scans()) {
      Workload task = asked.task(false, Workload.Rows.DEVICE, batch, null);
      boolean cpu =
          switch (mode) {
            // a query's other segments may come in calls of their own
            case AUTO -> session.chooser.sureOfCpu(asked.ofQuery(task, families.size(view)));
            case EXACT -> false;
            case GRAPH, CPU -> true;
          };
      if (cpu || Workloads.exactFits(item) == false) {
        return cpu(asked.ofCall(task), FallbackReason.SCAN, view.name(), asked.way());
      }
    }
    HeldSegment segment = hold(item, wanted, wanted && asked.scans() == false);
    if (segment == null && wanted == false) {
      return cpu(asked, FallbackReason.NOT_RESIDENT, view.name());
    }
    if (segment == null && view.isIndexed() == false) {
      return cpu(asked, FallbackReason.SCAN, view.name());
    }
    return segment == null
        ? decideAbsent(asked)
        : decide(asked, segment, plan(asked, segment, known));
  }

  /**
   * Decides for items over inverted lists. Where estimates pay, the device searches the lists if it
   * has them, unless an exact answer is faster. Items that accept few vectors are answered exactly;
   * so are all of them if the plan setting asks for that.
   *
   * @param known what was decided for such items before, on whatever grounds; or null
   */
  private Decision decideLists(Asked asked, Routes.Known known, boolean wanted) throws IOException {
    WorkItem item = asked.item();
    SegmentView view = asked.view();
    CpuExecutor.ListPlan lists = CpuExecutor.listPlan(item);
    HeldSegment segment = hold(item, wanted, wanted);
    if (segment == null) {
      return session.residency.damaged(view)
          ? cpu(asked, FallbackReason.DAMAGED, view.name() + " has a damaged file")
          : cpu(asked, FallbackReason.NOT_RESIDENT, view.name());
    }
    if (lists != CpuExecutor.ListPlan.ESTIMATED || mode == PlanMode.EXACT) {
      Decision exact = decideExact(asked, segment, lists);
      if (exact != null || lists != CpuExecutor.ListPlan.ESTIMATED) {
        return exact != null ? exact : cpu(asked, FallbackReason.SCAN, view.name());
      }
    }
    Routes.Known now = plan(asked, segment, known);
    Route plan = now.route();
    if (plan.exact()) {
      return decide(asked, segment, now);
    }
    if (plan.walk() == null) {
      return cpu(asked, FallbackReason.LISTS, view.name());
    }
    Workload task =
        plan.task()
            .beside(
                Workload.Rows.NONE, asked.batch(), sizes.walking(), sizes.cpuRounds(asked.batch()));
    return Decision.walk(
        session.chooser.lists(task), segment, plan.walk().on(segment), CpuExecutor.Way.LISTS);
  }

  /** Decides for an exact search over a segment with lists; null if the CPU is to search it. */
  private Decision decideExact(Asked asked, HeldSegment segment, CpuExecutor.ListPlan lists)
      throws IOException {
    WorkItem item = asked.item();
    ScanLane.Backlog backlog = session.scans.backlog(asked.view(), item.acceptedOrdinals());
    int together = asked.batch() + backlog.together();
    Workload.Rows rows = Workloads.readable(item, segment, together);
    if (mode == PlanMode.GRAPH || rows == Workload.Rows.NONE) {
      return null;
    }
    Workload task = asked.task(true, rows, together, null);
    // the CPU would score the same vectors only if it scores all that are accepted
    PlanMode among = lists == CpuExecutor.ListPlan.ALL ? mode : PlanMode.EXACT;
    Choice choice = session.chooser.choose(task, among, backlog.nanos());
    if (choice.plan().exactOnDevice() == false) {
      return null;
    }
    return Decision.exact(
        choice, segment, rows == Workload.Rows.STREAMED ? Workloads.file(asked.view()) : null);
  }

  /** Decides for items whose segment is not on the device. */
  private Decision decideAbsent(Asked asked) throws IOException {
    WorkItem item = asked.item();
    SegmentView view = asked.view();
    if (session.residency.damaged(view)) {
      return cpu(asked, FallbackReason.DAMAGED, view.name() + " has a damaged file");
    }
    boolean streams = mode == PlanMode.AUTO || mode == PlanMode.EXACT;
    MemorySegment file = streams && Workloads.exactFits(item) ? Workloads.file(view) : null;
    boolean exact =
        asked.scans()
            || (file != null
                && prefersExact(
                    asked.alone(Workload.Rows.STREAMED, null).over(families.size(view))));
    boolean streamed = file != null && (exact || mode == PlanMode.EXACT);
    Lease lease = streamed ? keeper.segments().lease(session, view) : null;
    if (lease != null) {
      ScanLane.Backlog backlog = session.scans.backlog(view, item.acceptedOrdinals());
      int together = asked.batch() + backlog.together();
      Workload task = asked.task(exact, Workload.Rows.STREAMED, together, null);
      Choice choice = session.chooser.choose(task, mode, backlog.nanos());
      if (choice.plan().exactOnDevice()) {
        return Decision.exact(choice, new HeldSegment(lease, null), file);
      }
    }
    return cpu(
        asked.task(exact, Workload.Rows.NONE, asked.batch(), null),
        exact ? FallbackReason.SCAN : FallbackReason.NOT_RESIDENT,
        view.name(),
        exact ? CpuExecutor.Way.SCAN : asked.way());
  }

  /**
   * Whether items that the CPU would walk are answered exactly. It depends on the request, the
   * segments, their place and the device: not on what else the node does.
   */
  private boolean prefersExact(Workload alone) {
    return mode == PlanMode.AUTO && session.chooser.prefersExact(alone);
  }

  private Routes.Known plan(Asked asked, HeldSegment segment, Routes.Known before)
      throws IOException {
    Routes.Known now = planner.plan(asked, segment, before, single && asked.batch() == 1);
    first = first == null ? now : first;
    return now;
  }

  /** Decides for items whose segment is on the device. */
  private Decision decide(Asked asked, HeldSegment segment, Routes.Known known) throws IOException {
    Route route = known.route();
    boolean reads = route.exact() || mode == PlanMode.EXACT;
    ScanLane.Backlog backlog =
        reads
            ? session.scans.backlog(asked.view(), asked.item().acceptedOrdinals())
            : ScanLane.Backlog.NONE;
    int together = asked.batch() + backlog.together();
    Workload.Rows rows =
        reads ? Workloads.readable(asked.item(), segment, together) : Workload.Rows.NONE;
    Workload task =
        asked.ofCall(
            route.task().beside(rows, together, sizes.walking(), sizes.cpuRounds(asked.batch())));
    Choice choice =
        known.kind() == null
            ? session.chooser.choose(task, route.copies() ? PlanMode.GRAPH : mode, backlog.nanos())
            : session.chooser.by(known.kind().onDevice(), task, backlog.nanos());
    return decision(asked, segment, choice, rows, route);
  }

  private static Decision decision(
      Asked asked, HeldSegment segment, Choice choice, Workload.Rows rows, Route plan)
      throws IOException {
    WorkItem item = asked.item();
    SegmentView view = asked.view();
    CpuExecutor.Way way = plan.way();
    if (choice.plan() == Plan.GRAPH) {
      return plan.fetched() == null
          ? Decision.walk(choice, segment, plan.walk().on(segment), way)
          : Decision.fetch(choice, segment, plan.fetched(), way);
    }
    if (choice.plan() != Plan.CPU) {
      return Decision.exact(
          choice, segment, rows == Workload.Rows.STREAMED ? Workloads.file(view) : null);
    }
    if (way == CpuExecutor.Way.SCAN) {
      return Decision.cpu(choice, FallbackReason.SCAN, view.name(), way);
    }
    if (RoutePlanner.hopeless(item)) {
      return Decision.cpu(choice, FallbackReason.VISIT_LIMIT, "limit " + item.visitLimit(), way);
    }
    return plan.walks() == false
        ? Decision.cpu(
            choice,
            FallbackReason.UNSUPPORTED,
            view.name() + " placed as " + segment.placement().settingName(),
            way)
        : Decision.cpu(choice, FallbackReason.PLANNED, view.name(), way);
  }

  private Decision cpu(Asked asked, FallbackReason reason, String detail) {
    return cpu(asked.task(), reason, detail, asked.way());
  }

  private Decision cpu(Workload task, FallbackReason reason, String detail, CpuExecutor.Way way) {
    return Decision.cpu(session.chooser.choose(task, PlanMode.CPU, 0), reason, detail, way);
  }

  /**
   * Holds an item's segment, or returns null if it is not on the device.
   *
   * @param wanted whether it should be uploaded then; no call has asked for an item sent ahead
   * @param wait whether to wait for an upload that is under way
   */
  private HeldSegment hold(WorkItem item, boolean wanted, boolean wait) {
    SegmentView view = item.segment();
    HeldSegment held = segments.get(view);
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
  private HeldSegment awaitUpload(WorkItem item) {
    HeldSegment segment = null;
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

  /**
   * Releases the planner's hold on segments. Chunks and scans hold the segments they use
   * themselves.
   */
  void close() {
    segments.values().forEach(HeldSegment::release);
    segments.clear();
  }
}
