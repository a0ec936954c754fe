package dev.vamana.cuda.call;

import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.hostfetch.FetchShape;
import dev.vamana.cuda.lane.HeldSegment;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.Contest;
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
final class IdlePlanner {

  private final GpuSession session;
  private final PlanMode mode;
  private final boolean measured;
  private final IdlePlans known;
  private final Families families;

  /**
   * Makes a planner.
   *
   * @param measured whether measurements decide about contested items
   * @param known what was decided before
   * @param families all open segments
   */
  IdlePlanner(
      GpuSession session, PlanMode mode, boolean measured, IdlePlans known, Families families) {
    this.session = session;
    this.mode = mode;
    this.measured = measured;
    this.known = known;
    this.families = families;
  }

  /**
   * Returns what is decided about items: what was, if the grounds still hold.
   *
   * @param segment their segment, which is on the device
   * @param before what was decided for such items before, on whatever grounds; or null
   */
  IdlePlan plan(Asked asked, HeldSegment segment, IdlePlan before) throws IOException {
    WorkItem item = asked.item();
    int open = families.size(asked.view());
    if (before != null && before.grounds().hold(session.chooser, mode, measured, open, segment)) {
      return before;
    }
    IdlePlan.Grounds grounds = IdlePlan.Grounds.of(session.chooser, mode, measured, open, segment);
    IdlePlan fresh =
        asked.view().hasLists()
            ? ofLists(asked, segment, grounds)
            : ofGraph(asked, segment, grounds);
    if (fresh.kind() != null && asked.batch() == 1) {
      known.remember(item, fresh);
    }
    return fresh;
  }

  private IdlePlan ofGraph(Asked asked, HeldSegment segment, IdlePlan.Grounds grounds)
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
    Contest contest = null;
    if (mode == PlanMode.AUTO) {
      Workload alone =
          asked.alone(Workloads.readable(item, segment, asked.batch()), walk).over(grounds.open());
      exact |= session.chooser.prefersExact(alone);
      copies = exact == false && walks && copies(asked, segment);
      contest = copies ? null : contest(exact ? alone.scanned() : alone);
    }
    return new IdlePlan(
        IdlePlan.Kind.of(item),
        grounds,
        asked.scans(),
        exact,
        copies,
        way(placement, exact, walks),
        plan == null ? null : plan.on(null),
        fetched,
        contest,
        asked.task(exact, Workload.Rows.NONE, asked.batch(), walk));
  }

  /**
   * As above, for items over inverted lists of which estimates pay. They are answered exactly, or
   * their lists are searched, by the device if a kernel can.
   */
  private IdlePlan ofLists(Asked asked, HeldSegment segment, IdlePlan.Grounds grounds)
      throws IOException {
    WorkItem item = asked.item();
    ItemPlan plan = ItemPlan.of(item, segment);
    boolean searches = plan != null && session.walks.fits(plan);
    Workload.Walk lists = Workloads.lists(item, asked.batch() * grounds.open());
    boolean exact = false;
    Contest contest = null;
    if (mode == PlanMode.AUTO) {
      Workload alone = asked.alone(Workloads.inPlace(item, segment), lists).over(grounds.open());
      exact = session.chooser.prefersExact(alone);
      contest = exact ? contest(alone.scanned()) : null;
    }
    return new IdlePlan(
        IdlePlan.Kind.of(item),
        grounds,
        asked.scans(),
        exact,
        false,
        exact ? CpuExecutor.Way.SCAN : CpuExecutor.Way.LISTS,
        searches ? plan.on(null) : null,
        null,
        contest,
        asked.task(exact, Workload.Rows.NONE, asked.batch(), lists));
  }

  private Contest contest(Workload alone) {
    return measured ? session.chooser.contest(alone) : null;
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
