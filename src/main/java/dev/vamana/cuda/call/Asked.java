package dev.vamana.cuda.call;

import dev.vamana.cuda.plan.Workload;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;

/**
 * Items of a call that differ only in their query, with what is the same for all of them. {@link
 * CallPlanner} makes one for each such group.
 *
 * @param scans whether scoring all accepted vectors is faster than a walk: decided here, once
 * @param batch number of these items in the call
 * @param sizes of the whole call
 */
record Asked(WorkItem item, boolean scans, int batch, BatchSizes sizes) {

  SegmentView view() {
    return item.segment();
  }

  /** Describes the work of the CPU. */
  Workload task() {
    return task(false, Workload.Rows.NONE, batch, null);
  }

  /**
   * Describes the work.
   *
   * @param exact whether the CPU would scan, whatever the rule says
   */
  Workload task(boolean exact, Workload.Rows rows, int together, Workload.Walk walk) {
    Workload task = Workloads.of(item, scans, rows, together, walk, sizes.cpuRounds(batch));
    return exact ? task.scanned() : task;
  }

  /**
   * Describes the items as if the node did nothing else.
   *
   * @param walk how the device would walk them alone, or null
   */
  Workload alone(Workload.Rows rows, Workload.Walk walk) {
    return Workloads.of(item, scans, rows, batch, walk, sizes.ownRounds(batch));
  }

  /**
   * Returns a task with all segments of the call, if a launch scans them together: the CPU is
   * compared with that launch, so its threads have all segments to scan, too. A filter may be so
   * strict that each segment's accepted vectors are gathered instead.
   */
  Workload ofCall(Workload task) {
    int all = sizes.segments();
    return scansTogether(task) ? task.over(all, sizes.cpuRounds(all * batch)) : task;
  }

  /**
   * Returns a task with all segments that the same queries search, if a launch scans them together,
   * and as much work for the CPU as if one thread did it all.
   *
   * @param open open segments of the item's family
   */
  Workload ofQuery(Workload task, int open) {
    int all = Math.max(open, sizes.segments());
    return scansTogether(task) ? task.over(all, Math.max(all, sizes.cpuRounds(all * batch))) : task;
  }

  private static boolean scansTogether(Workload task) {
    return task.cpu().scans() && task.filtered() == false && task.scansTogether();
  }

  CpuExecutor.Way way() {
    if (item.segment().hasLists()) {
      return CpuExecutor.Way.LISTS;
    }
    return scans ? CpuExecutor.Way.SCAN : CpuExecutor.Way.WALK;
  }
}
