package dev.vamana.cuda.call;

import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.hostfetch.FetchShape;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.plan.PlanChooser;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.cuda.plan.Workload;
import dev.vamana.search.CpuExecutor;
import java.util.Objects;

/**
 * How items that differ only in their query are answered, whatever else the node does: all that
 * follows from the request, the segment and its place. {@link CallPlanner} makes it and adds who
 * answers now; {@link Routes} remembers it.
 *
 * @param scans whether scoring all accepted vectors is faster for the CPU than a walk
 * @param exact whether the items are answered exactly
 * @param copies whether the items are walked by copies of the vectors, which the CPU does not have,
 *     so that only the device answers them
 * @param way how the CPU answers as the device would
 * @param walk how a launch walks the items or searches their lists, without the segment; null if no
 *     launch does
 * @param fetched how the device walks while the CPU fetches neighbours; null if it does not
 * @param task the work of one of the items, with the walk if the device can walk, or the search of
 *     lists
 * @param alone the work over all segments of the query, on an idle node; null if only one side
 *     answers such items
 */
record Route(
    Grounds grounds,
    boolean scans,
    boolean exact,
    boolean copies,
    CpuExecutor.Way way,
    ItemPlan walk,
    FetchShape fetched,
    Workload task,
    Workload alone) {

  /** Whether the device can walk the items. */
  boolean walks() {
    return walk != null || fetched != null;
  }

  /**
   * Grounds of a route besides the request: the place of the segment, and how plans are chosen.
   *
   * @param open open segments of the segment's family
   */
  record Grounds(
      PlanChooser chooser,
      PlanMode mode,
      int open,
      Placement placement,
      long descriptor,
      boolean reranks,
      ResidentRows rows) {

    static Grounds of(PlanChooser chooser, PlanMode mode, int open, ResidentSegment segment) {
      return new Grounds(
          chooser,
          mode,
          open,
          segment.placement(),
          segment.descriptor(),
          segment.reranksOnDevice(),
          segment.rows());
    }

    /** Whether these are the same grounds; makes no object. */
    @SuppressWarnings("ReferenceEquality") // a session has one chooser
    boolean hold(PlanChooser nowChooser, PlanMode nowMode, int nowOpen, ResidentSegment segment) {
      return nowChooser == chooser
          && nowMode == mode
          && nowOpen == open
          && segment.placement() == placement
          && segment.descriptor() == descriptor
          && segment.reranksOnDevice() == reranks
          && Objects.equals(segment.rows(), rows);
    }
  }
}
