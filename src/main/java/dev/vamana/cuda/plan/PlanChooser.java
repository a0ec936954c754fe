package dev.vamana.cuda.plan;

/** Chooses among plans by predicted time, or takes the one that is pinned. */
public final class PlanChooser {

  /**
   * What a nanosecond of a processor counts, in nanoseconds of the device: everything else on a
   * node needs processors, too, so the CPU answers only where it is clearly faster.
   */
  static final double CPU_WEIGHT = 2;

  private final CostModel costs;

  /** Makes a chooser of the costs of its device. */
  public PlanChooser(CostModel costs) {
    this.costs = costs;
  }

  /**
   * Chooses a plan. One that may miss hits is no alternative to a scan of the CPU, so a walk is
   * chosen only where the CPU would walk, too.
   *
   * @param scanWait nanoseconds until exact searches that were handed over before are done
   */
  public Choice choose(Task task, PlanMode mode, double scanWait) {
    return switch (mode) {
      case AUTO -> cheapest(task, scanWait);
      case EXACT -> {
        Choice exact = exact(task, scanWait);
        yield exact == null ? walk(task) : exact;
      }
      case GRAPH -> walk(task);
      case CPU -> of(Plan.CPU, task, 0);
    };
  }

  /**
   * Whether the CPU is the choice wherever on the device the vectors may lie, so that nobody has to
   * ask where they do.
   *
   * @param task with rows in device memory and without a walk
   */
  public boolean sureOfCpu(Task task) {
    return choose(task, PlanMode.AUTO, 0).plan() == Plan.CPU;
  }

  private Choice cheapest(Task task, double scanWait) {
    Choice best = of(Plan.CPU, task, 0);
    double least = CPU_WEIGHT * best.nanos();
    Choice exact = exact(task, scanWait);
    if (exact != null && exact.nanos() < least) {
      best = exact;
      least = exact.nanos();
    }
    if (task.cpu().scans() == false && task.walk().graph() != Task.Graph.NONE) {
      Choice walk = of(Plan.GRAPH, task, 0);
      best = walk.nanos() < least ? walk : best;
    }
    return best;
  }

  /** The better of the exact plans; null if the device cannot read the vectors. */
  private Choice exact(Task task, double scanWait) {
    if (task.rows() == Task.Rows.NONE) {
      return null;
    }
    Choice scan = of(Plan.SCAN, task, scanWait);
    if (task.filtered() == false) {
      return scan;
    }
    Choice gather = of(Plan.GATHER, task, scanWait);
    return gather.nanos() < scan.nanos() ? gather : scan;
  }

  private Choice walk(Task task) {
    boolean walks = task.cpu().scans() == false && task.walk().graph() != Task.Graph.NONE;
    return of(walks ? Plan.GRAPH : Plan.CPU, task, 0);
  }

  private Choice of(Plan plan, Task task, double wait) {
    return new Choice(plan, wait, costs.nanos(plan, task));
  }
}
