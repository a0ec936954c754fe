package dev.vamana.cuda.call;

import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.hostfetch.FetchShape;
import dev.vamana.cuda.lane.HeldSegment;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.cuda.plan.Workload;
import dev.vamana.cuda.session.GpuSession;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WorkItem;
import java.io.IOException;

/**
 * Decides what follows from a request, the segment and its place, whatever else the node does:
 * whether items are answered exactly, and how they are walked, or their lists searched, if they are
 * not. What it decides for single queries is remembered.
 */
final class RoutePlanner {

  private final GpuSession session;
  private final PlanMode mode;
  private final Routes routes;
  private final WhoAnswers who;
  private final Families families;

  /**
   * Makes a planner.
   *
   * @param routes what was decided before
   * @param who decides between the CPU and the device
   * @param families all open segments
   */
  RoutePlanner(
      GpuSession session, PlanMode mode, Routes routes, WhoAnswers who, Families families) {
    this.session = session;
    this.mode = mode;
    this.routes = routes;
    this.who = who;
    this.families = families;
  }

  /**
   * Returns the route of items: the one that was decided before, if its grounds still hold.
   *
   * @param segment their segment, which is on the device
   * @param before what was decided for such items before, on whatever grounds; or null
   * @param single whether the items belong to a single query
   */
  Routes.Known plan(Asked asked, HeldSegment segment, Routes.Known before, boolean single)
      throws IOException {
    Route route = route(asked, segment, before);
    if (single
        && before != null
        && before.window() == who.window()
        && route.equals(before.route())) {
      return before;
    }
    Workload alone = single ? route.alone() : null;
    WhoAnswers.Kind kind =
        alone == null ? null : who.kind(asked.view().family(), alone, session.chooser);
    double work = alone == null ? 0 : session.chooser.cpuNanos(alone);
    Routes.Known now = new Routes.Known(route, kind, work, who.window());
    if (single) {
      routes.remember(asked.item(), now);
    }
    return now;
  }

  private Route route(Asked asked, HeldSegment segment, Routes.Known before) throws IOException {
    int open = families.size(asked.view());
    if (before != null && before.route().grounds().hold(session.chooser, mode, open, segment)) {
      return before.route();
    }
    Route.Grounds grounds = Route.Grounds.of(session.chooser, mode, open, segment);
    return asked.view().hasLists()
        ? ofLists(asked, segment, grounds)
        : ofGraph(asked, segment, grounds);
  }

  private Route ofGraph(Asked asked, HeldSegment segment, Route.Grounds grounds)
      throws IOException {
    WorkItem item = asked.item();
    Placement placement = segment.placement();
    boolean hopeless = asked.view().isIndexed() == false || hopeless(item);
    FetchShape fetched =
        placement == Placement.HOST_FETCH && hopeless == false ? FetchShape.of(item) : null;
    ItemPlan plan = hopeless || fetched != null ? null : ItemPlan.of(item, segment);
    boolean walks = fetched != null || plan != null;
    Workload.Walk walk =
        walks ? Workloads.walk(item, placement, asked.batch() * grounds.open()) : null;
    boolean exact = asked.scans();
    boolean copies = false;
    Workload both = null;
    if (mode == PlanMode.AUTO) {
      Workload alone =
          asked.alone(Workloads.readable(item, segment, asked.batch()), walk).over(grounds.open());
      exact |= session.chooser.prefersExact(alone);
      copies = exact == false && walks && copies(asked, segment);
      both = copies ? null : exact ? alone.scanned() : alone;
    }
    return new Route(
        Route.Request.of(item),
        grounds,
        asked.scans(),
        exact,
        copies,
        way(placement, exact, walks),
        plan == null ? null : plan.on(null),
        fetched,
        asked.task(exact, Workload.Rows.NONE, asked.batch(), walk),
        both);
  }

  /**
   * As above, for items over inverted lists of which estimates pay. They are answered exactly, or
   * their lists are searched, by the device if a kernel can.
   */
  private Route ofLists(Asked asked, HeldSegment segment, Route.Grounds grounds)
      throws IOException {
    WorkItem item = asked.item();
    ItemPlan plan = ItemPlan.of(item, segment);
    boolean searches = plan != null && session.walks.fits(plan);
    Workload.Walk lists = Workloads.lists(item, asked.batch() * grounds.open());
    boolean exact = false;
    Workload both = null;
    if (mode == PlanMode.AUTO) {
      Workload alone = asked.alone(Workloads.inPlace(item, segment), lists).over(grounds.open());
      exact = session.chooser.prefersExact(alone);
      both = exact ? alone.scanned() : null;
    }
    return new Route(
        Route.Request.of(item),
        grounds,
        asked.scans(),
        exact,
        false,
        exact ? CpuExecutor.Way.SCAN : CpuExecutor.Way.LISTS,
        searches ? plan.on(null) : null,
        null,
        asked.task(exact, Workload.Rows.NONE, asked.batch(), lists),
        both);
  }

  /** Whether a visit limit ends a walk before its first step. */
  static boolean hopeless(WorkItem item) {
    return item.visitLimit() < StoredAdjacency.stride(item.segment().maxDegree());
  }

  /**
   * Whether walks compare copies of the vectors, which the CPU does not have. Copies that are the
   * vectors are none for a single query of bytes; of several queries each would have to be looked
   * at.
   */
  private static boolean copies(Asked asked, HeldSegment segment) {
    if (asked.batch() == 1 && segment.wholeCopies() && asked.item().query().ofBytes()) {
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
    return switch (placement) {
      case EXACT, EXACT_FLOAT16, EXACT_INT8 -> CpuExecutor.Way.WALK;
      case IN_MEMORY, MAPPED_GRAPH, HOST_FETCH ->
          walks ? CpuExecutor.Way.WALK_CODES : CpuExecutor.Way.WALK;
    };
  }
}
