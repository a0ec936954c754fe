package dev.vamana.cuda.call;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.hostfetch.FetchShape;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Precision;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.cuda.plan.Workload;
import dev.vamana.cuda.session.ExecutorCounters;
import dev.vamana.cuda.session.GpuSession;
import dev.vamana.cuda.session.SessionKeeper;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides for each item of one call whether the device or the CPU answers it, and by which plan.
 * {@link DeviceCall} asks for a {@link Decision} per item; items of equal terms share one. A {@link
 * Route} is the part that follows from the request, the segment and its place, whatever else the
 * node does; routes of single queries are remembered.
 */
public final class CallPlanner {

  private final GpuSession session;
  private final ExecutorCounters counters;
  private final Routes routes;
  private final PlanMode mode;
  private final boolean single;
  private final int threads;
  private final int items;
  private final int walking;
  private final int onCpu;
  // number of items of the call with these terms
  private final Map<WorkItem.Terms, Integer> counts = new HashMap<>();
  private final CallSegments segments;
  private final Map<WorkItem.Terms, Decision> decisions = new HashMap<>();
  private WorkItem.Terms last;
  private Decision lastDecision;
  private Routes.Known first;

  /**
   * Makes a planner for one call.
   *
   * @param call the call's items
   * @param single whether the call is a single query's
   */
  @SuppressWarnings("ReferenceEquality") // items that differ only in their query share their terms
  public CallPlanner(
      GpuSession session,
      SessionKeeper keeper,
      ExecutorCounters counters,
      Routes routes,
      List<WorkItem> call,
      boolean single) {
    this.session = session;
    this.segments = new CallSegments(session, keeper, counters);
    this.counters = counters;
    this.routes = routes;
    this.mode = keeper.options().plans().mode();
    this.threads = keeper.options().workers().threads();
    this.single = single;
    this.items = call.size();
    this.walking = Math.max(0, routes.load.walking.get());
    this.onCpu = routes.load.onCpu.intValue();
    int from = 0;
    for (int i = 1; i <= items; i++) {
      if (i == items || call.get(i).terms() != call.get(from).terms()) {
        counts.merge(call.get(from).terms(), i - from, Integer::sum);
        from = i;
      }
    }
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
      lastDecision = decisions.get(last);
      if (lastDecision == null) {
        lastDecision = decide(item, counts.get(last), wanted);
        decisions.put(last, lastDecision);
      }
    }
    if (lastDecision.reason() != null && wanted) {
      counters.fallback(lastDecision.reason(), count, lastDecision.detail());
    }
    return lastDecision;
  }

  /** Returns the route of a single query's first item; null if nothing was decided about it. */
  public Routes.Known first() {
    return first;
  }

  /**
   * Items of equal terms.
   *
   * @param scans whether scoring all accepted vectors is faster than a walk: decided once
   * @param batch number of these items in the call
   */
  private record Asked(WorkItem item, boolean scans, int batch) {
    SegmentView view() {
      return item.segment();
    }

    String name() {
      return item.segment().name();
    }

    CpuExecutor.Way way() {
      return scans ? CpuExecutor.Way.SCAN : CpuExecutor.Way.WALK;
    }
  }

  /** Describes the work of items, of which the device does nothing else but a walk. */
  private Workload task(Asked asked, boolean exact, Workload.Rows rows, Workload.Walk walk) {
    int batch = asked.batch;
    Workload task = Workloads.of(asked.item, asked.scans, rows, batch, walk, cpuRounds(batch));
    return exact ? task.scanned() : task;
  }

  /**
   * Describes items over all open segments like theirs, as if the node did nothing else.
   *
   * @param walk how the device would walk them alone, or null
   */
  private Workload alone(Asked asked, Workload.Rows rows, Workload.Walk walk) {
    return Workloads.of(asked.item, asked.scans, rows, asked.batch, walk, ownRounds(asked.batch))
        .over(routes.openLike(asked.view()));
  }

  /**
   * Returns a task with all segments that the same queries search, if a launch scans them together:
   * the CPU is compared with that launch, so its threads have all segments to scan, too. A filter
   * may be so strict that each segment's accepted vectors are gathered instead.
   *
   * @param open number of open segments that the same queries search in other calls, as if one
   *     thread of the CPU scanned all; 0 to count the segments of the call only
   */
  private Workload together(Asked asked, Workload task, int open) {
    if (task.cpu().scans() == false || task.filtered() || task.scansTogether() == false) {
      return task;
    }
    int all = Math.max(open, counts.size());
    double rounds = cpuRounds(all * asked.batch);
    return task.over(all, open == 0 ? rounds : Math.max(all, rounds));
  }

  /** Returns how many of so many items one CPU thread answers, if the CPU answers nothing else. */
  private double ownRounds(int count) {
    return Math.ceil(count / (double) Math.min(threads, count));
  }

  /** As {@link #ownRounds}, beside what the CPU answers now. */
  private double cpuRounds(int count) {
    return Math.max(ownRounds(count), (count + onCpu) / (double) routes.load.processors);
  }

  private Decision decide(WorkItem item, int batch, boolean wanted) throws IOException {
    SegmentView view = item.segment();
    Routes.Known known = batch == 1 ? routes.find(item) : null;
    boolean scans = known == null ? CpuExecutor.plansScan(item) : known.route().scans();
    Asked asked = new Asked(item, scans, batch);
    if (mode == PlanMode.CPU) {
      return cpu(asked, FallbackReason.PLANNED, null);
    }
    if (view.rawComparison() != null) {
      return cpu(
          asked,
          scans ? FallbackReason.SCAN : FallbackReason.UNSUPPORTED,
          view.name() + " has vectors too small for scores");
    }
    if (view.hasLists()) {
      return decideLists(asked, known, wanted);
    }
    if (scans && scansOnCpu(asked)) {
      return cpu(asked, FallbackReason.SCAN, view.name());
    }
    ResidentSegment segment = segments.hold(item, wanted, wanted && scans == false);
    if (segment == null && wanted == false) {
      return cpu(asked, FallbackReason.NOT_RESIDENT, view.name());
    }
    if (segment == null && view.isIndexed() == false) {
      return cpu(asked, FallbackReason.SCAN, view.name());
    }
    return segment == null
        ? decideAbsent(asked)
        : decide(asked, segment, route(asked, segment, known));
  }

  /** Whether the CPU scans, wherever the segment is. */
  private boolean scansOnCpu(Asked asked) {
    boolean cpu =
        switch (mode) {
          case AUTO -> {
            Workload task = task(asked, false, Workload.Rows.DEVICE, null);
            // a query's other segments may come in calls of their own
            yield session.chooser.sureOfCpu(together(asked, task, routes.openLike(asked.view())));
          }
          case EXACT -> false;
          case GRAPH, CPU -> true;
        };
    return cpu || Workloads.exactFits(asked.item) == false;
  }

  /**
   * Decides for items over inverted lists. Where estimates pay, the device searches the lists if it
   * has them, unless an exact answer is faster. Items that accept few vectors are answered exactly;
   * so are all of them if the plan setting asks for that.
   *
   * @param known what was decided for such items before, on whatever grounds; or null
   */
  private Decision decideLists(Asked asked, Routes.Known known, boolean wanted) throws IOException {
    CpuExecutor.ListPlan lists = CpuExecutor.listPlan(asked.item);
    ResidentSegment segment = segments.hold(asked.item, wanted, wanted);
    if (segment == null) {
      return session.residency.damaged(asked.view())
          ? cpu(asked, FallbackReason.DAMAGED, asked.name() + " has a damaged file")
          : cpu(asked, FallbackReason.NOT_RESIDENT, asked.name());
    }
    if (lists != CpuExecutor.ListPlan.ESTIMATED || mode == PlanMode.EXACT) {
      Decision exact = decideExact(asked, segment, lists);
      if (exact != null || lists != CpuExecutor.ListPlan.ESTIMATED) {
        return exact != null ? exact : cpu(asked, FallbackReason.SCAN, asked.name());
      }
    }
    Routes.Known now = route(asked, segment, known);
    if (now.route().exact()) {
      return decide(asked, segment, now);
    }
    return now.route().walk() == null
        ? cpu(asked, FallbackReason.LISTS, asked.name())
        : Decision.walk(Plan.LISTS, segment, now.route().walk(), CpuExecutor.Way.LISTS);
  }

  /** Decides for an exact search over a segment with lists; null if the CPU is to search it. */
  private Decision decideExact(Asked asked, ResidentSegment segment, CpuExecutor.ListPlan lists)
      throws IOException {
    Workload.Rows rows = Workloads.rows(asked.item, segment, asked.batch);
    if (mode == PlanMode.GRAPH || rows == Workload.Rows.NONE) {
      return null;
    }
    // the CPU would score the same vectors only if it scores all that are accepted
    PlanMode among = lists == CpuExecutor.ListPlan.ALL ? mode : PlanMode.EXACT;
    Plan plan = session.chooser.choose(task(asked, true, rows, null), among);
    return plan.exactOnDevice() ? Decision.exact(plan, segment) : null;
  }

  /** Decides for items whose segment is not on the device. */
  private Decision decideAbsent(Asked asked) {
    if (session.residency.damaged(asked.view())) {
      return cpu(asked, FallbackReason.DAMAGED, asked.name() + " has a damaged file");
    }
    return cpu(
        asked, asked.scans ? FallbackReason.SCAN : FallbackReason.NOT_RESIDENT, asked.name());
  }

  /**
   * Returns the route of items: the one that was decided before, if its grounds still hold.
   *
   * @param segment their segment, which is on the device
   * @param before what was decided for such items before, on whatever grounds; or null
   */
  @SuppressWarnings("ReferenceEquality") // a route whose grounds hold is the same
  private Routes.Known route(Asked asked, ResidentSegment segment, Routes.Known before)
      throws IOException {
    int open = routes.openLike(asked.view());
    Route route =
        before != null && before.route().grounds().hold(session.chooser, mode, open, segment)
            ? before.route()
            : plan(asked, segment, Route.Grounds.of(session.chooser, mode, open, segment));
    boolean lone = single && asked.batch == 1;
    long window = routes.who.window();
    Routes.Known now = before;
    if (lone == false || before == null || before.window() != window || route != before.route()) {
      Workload alone = lone ? route.alone() : null;
      now =
          new Routes.Known(
              lone ? Request.of(asked.item) : null,
              route,
              alone == null ? null : kind(asked, alone),
              alone == null ? 0 : session.chooser.cpuNanos(alone),
              window);
      routes.remember(now);
    }
    first = first == null ? now : first;
    return now;
  }

  private WhoAnswers.Kind kind(Asked asked, Workload alone) {
    boolean format = asked.view().formatSearch() != null;
    return routes.who.kind(asked.view().family(), alone, session.chooser, format);
  }

  private Route plan(Asked asked, ResidentSegment segment, Route.Grounds grounds)
      throws IOException {
    WorkItem item = asked.item;
    boolean lists = asked.view().hasLists();
    Placement placement = segment.placement();
    boolean hopeless = lists == false && (asked.view().isIndexed() == false || hopeless(item));
    FetchShape fetched =
        placement == Placement.HOST_FETCH && lists == false && hopeless == false
            ? FetchShape.of(item)
            : null;
    ItemPlan plan = hopeless || fetched != null ? null : ItemPlan.of(item, segment);
    plan = plan != null && lists && session.walks.fits(plan) == false ? null : plan;
    boolean walks = fetched != null || plan != null;
    int together = asked.batch * grounds.open();
    Workload.Walk walk =
        lists
            ? Workloads.lists(item, together)
            : walks ? Workloads.walk(item, placement, together) : null;
    boolean exact = asked.scans && lists == false;
    boolean copies = false;
    Workload both = null;
    if (mode == PlanMode.AUTO) {
      Workload.Rows rows =
          lists ? Workloads.inPlace(item, segment) : Workloads.rows(item, segment, asked.batch);
      Workload alone = alone(asked, rows, walk);
      exact |= session.chooser.prefersExact(alone);
      copies = exact == false && walks && copies(asked, segment);
      boolean device = copies || (lists && exact == false);
      both = device ? null : exact ? alone.scanned() : alone;
    }
    return new Route(
        grounds,
        asked.scans,
        exact,
        copies,
        lists && exact == false ? CpuExecutor.Way.LISTS : way(placement, exact, walks),
        plan == null ? null : plan.on(null),
        fetched,
        task(asked, exact, Workload.Rows.NONE, walk),
        both);
  }

  /** Whether a visit limit ends a walk before its first step. */
  private static boolean hopeless(WorkItem item) {
    return item.visitLimit() < StoredAdjacency.stride(item.segment().maxDegree());
  }

  /**
   * Whether walks compare copies of the vectors, which the CPU does not have. Copies that are the
   * vectors are none for a single query of bytes; of several queries each would have to be looked
   * at.
   */
  private static boolean copies(Asked asked, ResidentSegment segment) {
    if (asked.view().formatSearch() != null) {
      // the CPU answers by the format, whose hits are others anyway
      return false;
    }
    if (asked.batch == 1 && segment.wholeCopies() && asked.item.query().ofBytes()) {
      return false;
    }
    return segment.placement() == Placement.EXACT_FLOAT16
        || segment.placement() == Placement.EXACT_INT8;
  }

  /** Returns how the CPU answers as the device would. */
  private static CpuExecutor.Way way(Placement placement, boolean exact, boolean walks) {
    if (exact) {
      return CpuExecutor.Way.SCAN;
    }
    return placement.precision() == Precision.PQ && walks
        ? CpuExecutor.Way.WALK_CODES
        : CpuExecutor.Way.WALK;
  }

  /** Decides for items whose segment is on the device. */
  private Decision decide(Asked asked, ResidentSegment segment, Routes.Known known)
      throws IOException {
    Route route = known.route();
    Workload.Rows rows =
        route.exact() || mode == PlanMode.EXACT
            ? Workloads.rows(asked.item, segment, asked.batch)
            : Workload.Rows.NONE;
    Workload own = route.task().beside(rows, asked.batch, items + walking, cpuRounds(asked.batch));
    Workload task = together(asked, own, 0);
    Plan plan =
        known.kind() == null
            ? session.chooser.choose(task, route.copies() ? PlanMode.GRAPH : mode)
            : session.chooser.by(known.kind().onDevice(), task);
    if (plan == Plan.GRAPH) {
      return route.fetched() == null
          ? Decision.walk(plan, segment, route.walk(), route.way())
          : Decision.fetch(segment, route.fetched(), route.way());
    }
    if (plan != Plan.CPU) {
      return Decision.exact(plan, segment);
    }
    if (route.way() == CpuExecutor.Way.SCAN) {
      return Decision.cpu(FallbackReason.SCAN, asked.name(), route.way());
    }
    if (hopeless(asked.item)) {
      return Decision.cpu(
          FallbackReason.VISIT_LIMIT, "limit " + asked.item.visitLimit(), route.way());
    }
    return route.walks() == false
        ? Decision.cpu(
            FallbackReason.UNSUPPORTED,
            asked.name() + " placed as " + segment.placement().settingName(),
            route.way())
        : Decision.cpu(FallbackReason.PLANNED, asked.name(), route.way());
  }

  private static Decision cpu(Asked asked, FallbackReason reason, String detail) {
    return Decision.cpu(
        reason, detail, asked.view().hasLists() ? CpuExecutor.Way.LISTS : asked.way());
  }

  /**
   * Releases the planner's hold on segments. Chunks and scans hold the segments they use
   * themselves.
   */
  void close() {
    segments.release();
  }
}
