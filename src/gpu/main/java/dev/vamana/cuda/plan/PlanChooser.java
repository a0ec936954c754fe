package dev.vamana.cuda.plan;

/** Chooses the plan of a task by predicted time, or the pinned plan. */
public final class PlanChooser {

  /**
   * Weight of CPU time relative to device time. Everything else on a node needs the processors too,
   * so the CPU answers only where it is clearly faster.
   */
  static final double CPU_WEIGHT = 2;

  /**
   * Callers who ask the same side by side. Scans run one batch after the other, and walks side by
   * side, so what is faster for one caller may be slower for each of several.
   */
  static final int CALLERS = 8;

  /**
   * How much longer than a search of lists an exact answer may take if several ask. It finds all
   * hits; a search of lists that finds 99 of 100 takes 1.3 to 2 times as long as one that finds 95.
   */
  private static final double WORTH_EXACT = 1.25;

  /** The same, if it takes a lone caller at most half of the time. */
  private static final double WORTH_FAST_EXACT = 1.5;

  private final CostModel costs;

  /**
   * Makes a chooser.
   *
   * @param costs costs of the device in use
   */
  public PlanChooser(CostModel costs) {
    this.costs = costs;
  }

  /**
   * Chooses a plan. A walk is chosen only if the CPU would walk too, because a walk may miss hits
   * that a CPU scan finds.
   */
  public Plan choose(Workload task, PlanMode mode) {
    return switch (mode) {
      case AUTO -> cheapest(task);
      case EXACT -> {
        Plan exact = exact(task);
        yield exact == null ? walk(task) : exact;
      }
      case GRAPH -> walk(task);
      case CPU -> Plan.CPU;
    };
  }

  /**
   * Whether queries are answered exactly although the CPU would walk. It depends on nothing but the
   * task, so it is the same at any load.
   *
   * <p>The device walks over all segments at the same time. Scans count as if each took a launch,
   * even where {@linkplain Workload#scansTogether one launch} has all: more callers read more rows,
   * so scans were never faster than walks beside other callers (docs/internals/query-plans.md).
   *
   * <p>Where the device can walk, exact answers must not take longer either if {@value #CALLERS}
   * callers ask the same: how many there are must not decide, so the choice is good for all.
   *
   * <p>Where the device has inverted lists, the CPU is no alternative, and vectors that are not in
   * device memory are none either. Searches of lists over all segments share a launch, as walks do.
   * For several callers an exact answer may take a little longer, because it finds all hits, and
   * half longer if it is twice as fast for one caller.
   *
   * @param alone the request's own queries over all its segments, on a node that does nothing else
   */
  public boolean prefersExact(Workload alone) {
    Plan exact = exact(alone.over(1));
    if (exact == null) {
      return false;
    }
    int segments = alone.segments();
    double own = segments * costs.nanos(exact, alone.over(1));
    if (alone.searchesLists()) {
      double faster = costs.nanos(Plan.LISTS, alone) / own;
      double worth = faster >= 2 ? WORTH_FAST_EXACT : WORTH_EXACT;
      return alone.rows() == Workload.Rows.DEVICE
          && faster > 1
          && exactBesideOthers(alone) <= worth * costs.nanos(Plan.LISTS, alone.asked(CALLERS));
    }
    double scans = costs.handOver() + own;
    double others = CPU_WEIGHT * segments * costs.nanos(Plan.CPU, alone);
    if (alone.walks()) {
      others = Math.min(others, costs.handOver() + costs.nanos(Plan.GRAPH, alone));
      if (exactBesideOthers(alone) > costs.nanos(Plan.GRAPH, alone.asked(CALLERS))) {
        return false;
      }
    }
    return scans < others;
  }

  /**
   * Returns the nanoseconds that each of {@link #CALLERS} callers waits for an exact answer: half
   * of them are searched in a batch while the other half queue, so a caller waits for two batches.
   */
  private double exactBesideOthers(Workload alone) {
    Workload half = alone.over(1).asked(CALLERS / 2);
    return 2 * alone.segments() * costs.nanos(exact(half), half);
  }

  /**
   * Whether the CPU is the choice even if the device could read the vectors from its own memory.
   * The caller then need not find out where the vectors are.
   *
   * @param task a task with rows in device memory and without a walk
   */
  public boolean sureOfCpu(Workload task) {
    return cheapest(task) == Plan.CPU;
  }

  /** Returns the predicted nanoseconds of a thread of the CPU for one segment of a task. */
  public double cpuNanos(Workload alone) {
    return costs.nanos(Plan.CPU, alone) / Math.max(1, alone.cpu().rounds());
  }

  /**
   * Returns the predicted nanoseconds that each of several callers waits for the device, which
   * answers as the CPU would: for all segments of the task. Infinite if the device cannot.
   *
   * @param callers number of callers that ask the same, at least 1
   * @param busy callers of each processor, at least 1: a thread that hands items over has to wait
   *     for its turn
   */
  public double deviceNanos(Workload alone, int callers, double busy) {
    double handOver = busy * costs.handOver();
    if (alone.cpu().scans() == false) {
      return alone.walks()
          ? handOver + costs.nanos(Plan.GRAPH, alone.asked(callers))
          : Double.POSITIVE_INFINITY;
    }
    Workload batch = alone.asked(Math.max(1, callers / 2));
    Plan exact = exact(batch);
    if (exact == null) {
      return Double.POSITIVE_INFINITY;
    }
    int launches = CostModel.inOneLaunch(exact, batch) ? 1 : alone.segments();
    // scans run one batch after the other: a caller waits for the batch before its own
    return handOver + launches * Math.min(callers, 2) * costs.nanos(exact, batch);
  }

  /** Returns the plan of work that both sides do alike. */
  public Plan by(boolean device, Workload task) {
    Plan exact = device && task.cpu().scans() ? exact(task) : null;
    return exact != null ? exact : device ? walk(task) : Plan.CPU;
  }

  private Plan cheapest(Workload task) {
    Plan best = Plan.CPU;
    double least = CPU_WEIGHT * costs.nanos(best, task);
    for (Plan plan : new Plan[] {exact(task), walk(task)}) {
      if (plan != null && plan != Plan.CPU) {
        // where the CPU answers in less than handing over takes, the device would take more of a
        // busy node's processors than it saves
        double nanos = costs.handOver() + costs.nanos(plan, task);
        if (nanos < least) {
          best = plan;
          least = nanos;
        }
      }
    }
    return best;
  }

  /** Returns the faster exact plan; null if the device cannot read the vectors. */
  private Plan exact(Workload task) {
    if (task.rows() == Workload.Rows.NONE) {
      return null;
    }
    if (task.filtered() == false) {
      return Plan.SCAN;
    }
    int inTurn = CostModel.inOneLaunch(Plan.SCAN, task) ? task.segments() : 1;
    return inTurn * costs.nanos(Plan.GATHER, task) < costs.nanos(Plan.SCAN, task)
        ? Plan.GATHER
        : Plan.SCAN;
  }

  private static Plan walk(Workload task) {
    return task.walks() ? Plan.GRAPH : Plan.CPU;
  }
}
