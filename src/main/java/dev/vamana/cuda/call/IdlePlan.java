package dev.vamana.cuda.call;

import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.hostfetch.FetchShape;
import dev.vamana.cuda.lane.HeldSegment;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.plan.Contest;
import dev.vamana.cuda.plan.PlanChooser;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.cuda.plan.Workload;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.util.Objects;

/**
 * What is decided about items that differ only in their query, whatever else the node does: all
 * that follows from the request, the segment and its place. {@link IdlePlanner} makes it, and
 * {@link CallPlanner} adds the load.
 *
 * @param kind what the items ask for
 * @param grounds what else it follows from
 * @param scans whether scoring all accepted vectors is faster for the CPU than a walk
 * @param exact whether the items are answered exactly
 * @param copies whether the items are walked by copies of the vectors, which the CPU does not have,
 *     so that only the device answers them
 * @param way how the CPU answers as the device would
 * @param walk how a launch walks the items or searches their lists, without the segment; null if no
 *     launch does
 * @param fetched how the device walks while the CPU fetches neighbours; null if it does not
 * @param contest what is known of items that both sides may answer; null if the cost model decides
 * @param task the work of one of the items, with the walk if the device can walk, or the search of
 *     lists
 */
record IdlePlan(
    Kind kind,
    Grounds grounds,
    boolean scans,
    boolean exact,
    boolean copies,
    CpuExecutor.Way way,
    ItemPlan walk,
    FetchShape fetched,
    Contest contest,
    Workload task) {

  /** Whether the device can walk the items. */
  boolean walks() {
    return walk != null || fetched != null;
  }

  /**
   * What single queries ask of a segment, beside their vector.
   *
   * @param ofBytes {@link dev.vamana.search.QueryVector#ofBytes}
   */
  record Kind(int k, WalkParameters walk, boolean filtered, int accepted, boolean ofBytes) {

    /**
     * Returns the kind of an item; null if it has entry points, or a visit limit that may end it.
     */
    static Kind of(WorkItem item) {
      return plain(item)
          ? new Kind(
              item.k(),
              item.walk(),
              item.acceptedOrdinals() != null,
              item.acceptedCount(),
              item.query().ofBytes())
          : null;
    }

    /** Whether an item is of this kind. */
    @SuppressWarnings("ReferenceEquality") // most often the same object; equal ones are alike
    boolean matches(WorkItem item) {
      return item.k() == k
          && item.acceptedCount() == accepted
          && (item.acceptedOrdinals() != null) == filtered
          && (item.walk() == walk || item.walk().equals(walk))
          && item.query().ofBytes() == ofBytes
          && plain(item);
    }

    private static boolean plain(WorkItem item) {
      return item.entryPoints().length == 0 && item.visitLimit() >= Integer.MAX_VALUE;
    }
  }

  /**
   * The place of a segment, and how plans are chosen.
   *
   * @param open open segments of the segment's family
   */
  record Grounds(
      PlanChooser chooser,
      PlanMode mode,
      boolean measured,
      int open,
      Placement placement,
      long descriptor,
      boolean reranks,
      ResidentRows rows) {

    static Grounds of(
        PlanChooser chooser, PlanMode mode, boolean measured, int open, HeldSegment segment) {
      return new Grounds(
          chooser,
          mode,
          measured,
          open,
          segment.placement(),
          segment.descriptor(),
          segment.reranksOnDevice(),
          segment.rows());
    }

    /** Whether these are the same grounds; compares without making an object. */
    @SuppressWarnings("ReferenceEquality") // a session has one chooser
    boolean hold(
        PlanChooser nowChooser,
        PlanMode nowMode,
        boolean nowMeasured,
        int nowOpen,
        HeldSegment segment) {
      return nowChooser == chooser
          && nowMode == mode
          && nowMeasured == measured
          && nowOpen == open
          && segment.placement() == placement
          && segment.descriptor() == descriptor
          && segment.reranksOnDevice() == reranks
          && Objects.equals(segment.rows(), rows);
    }
  }
}
