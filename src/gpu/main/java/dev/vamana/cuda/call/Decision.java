package dev.vamana.cuda.call;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.hostfetch.FetchShape;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.search.CpuExecutor;

/**
 * The plan for items of a call that differ only in their query. {@link CallPlanner} makes one
 * instance for all such items.
 *
 * @param segment the segment, held by the planner; null if the CPU answers
 * @param likeness items of equal likeness are submitted together: a {@link
 *     dev.vamana.cuda.kernel.LaunchShape}, a {@link FetchShape}, or for an exact search an object
 *     of this decision; null if the CPU answers
 * @param walk how a launch walks the items; null if no launch does
 * @param reason why the CPU answers; null if the device does
 * @param detail detail of the reason, for the log
 * @param way how the CPU answers, also if the device cannot after all
 */
record Decision(
    Plan plan,
    ResidentSegment segment,
    Object likeness,
    ItemPlan walk,
    FallbackReason reason,
    String detail,
    CpuExecutor.Way way) {

  static Decision cpu(FallbackReason reason, String detail, CpuExecutor.Way way) {
    return new Decision(Plan.CPU, null, null, null, reason, detail, way);
  }

  static Decision walk(Plan plan, ResidentSegment segment, ItemPlan walk, CpuExecutor.Way way) {
    ItemPlan own = walk.on(segment);
    return new Decision(plan, segment, own.shape(), own, null, null, way);
  }

  static Decision fetch(ResidentSegment segment, FetchShape shape, CpuExecutor.Way way) {
    return new Decision(Plan.GRAPH, segment, shape, null, null, null, way);
  }

  static Decision exact(Plan plan, ResidentSegment segment) {
    return new Decision(plan, segment, new Object(), null, null, null, CpuExecutor.Way.SCAN);
  }
}
