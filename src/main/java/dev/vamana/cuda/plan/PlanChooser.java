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
   *
   * @param scanWait nanoseconds until the exact searches submitted before are done
   */
  public Choice choose(Workload task, PlanMode mode, double scanWait) {
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
    Choice exact = exact(alone.over(1), 0);
    if (exact == null) {
      return false;
    }
    int segments = alone.segments();
    if (alone.searchesLists()) {
      double faster = costs.nanos(Plan.LISTS, alone) / (segments * exact.nanos());
      double worth = faster >= 2 ? WORTH_FAST_EXACT : WORTH_EXACT;
      return alone.rows() == Workload.Rows.DEVICE
          && faster > 1
          && exactBesideOthers(alone) <= worth * listsBesideOthers(alone);
    }
    double scans = costs.handOver() + segments * exact.nanos();
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
    return 2 * alone.segments() * exact(alone.over(1).asked(CALLERS / 2), 0).nanos();
  }

  /**
   * Returns the nanoseconds that each of {@link #CALLERS} callers waits for a search of lists: as
   * for walks, launches run side by side.
   */
  private double listsBesideOthers(Workload alone) {
    return costs.nanos(Plan.LISTS, alone.asked(CALLERS));
  }

  /**
   * Whether the CPU is the choice even if the device could read the vectors from its own memory.
   * The caller then need not find out where the vectors are.
   *
   * @param task a task with rows in device memory and without a walk
   */
  public boolean sureOfCpu(Workload task) {
    return choose(task, PlanMode.AUTO, 0).plan() == Plan.CPU;
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
    Choice exact = exact(batch, 0);
    if (exact == null) {
      return Double.POSITIVE_INFINITY;
    }
    int launches = CostModel.inOneLaunch(exact.plan(), batch) ? 1 : alone.segments();
    // scans run one batch after the other: a caller waits for the batch before its own
    return handOver + launches * Math.min(callers, 2) * exact.nanos();
  }

  /**
   * Returns the plan of work that both sides do alike.
   *
   * @param device whether the device is to do it
   * @param scanWait as for {@link #choose}
   */
  public Choice by(boolean device, Workload task, double scanWait) {
    Choice choice = device ? onDevice(task, scanWait) : null;
    return choice == null ? of(Plan.CPU, task, 0) : choice;
  }

  /** Returns the plan of the device that misses no more hits than the CPU; null without one. */
  private Choice onDevice(Workload task, double scanWait) {
    if (task.cpu().scans()) {
      return exact(task, scanWait);
    }
    return task.walks() ? of(Plan.GRAPH, task, 0) : null;
  }

  private Choice cheapest(Workload task, double scanWait) {
    Choice best = of(Plan.CPU, task, 0);
    double least = CPU_WEIGHT * best.nanos();
    Choice exact = exact(task, scanWait);
    if (exact != null && onDevice(exact) < least) {
      best = exact;
      least = onDevice(exact);
    }
    if (task.walks()) {
      Choice walk = of(Plan.GRAPH, task, 0);
      best = onDevice(walk) < least ? walk : best;
    }
    return best;
  }

  /**
   * Returns the cost of a plan on the device, with the processor time of handing items over. Where
   * the CPU answers in less, the device would take more of a busy node's processors than it saves.
   */
  private double onDevice(Choice choice) {
    return costs.handOver() + choice.nanos();
  }

  /** Returns the faster exact plan; null if the device cannot read the vectors. */
  private Choice exact(Workload task, double scanWait) {
    if (task.rows() == Workload.Rows.NONE) {
      return null;
    }
    Choice scan = of(Plan.SCAN, task, scanWait);
    if (task.filtered() == false) {
      return scan;
    }
    Choice gather = of(Plan.GATHER, task, scanWait);
    int inTurn = CostModel.inOneLaunch(Plan.SCAN, task) ? task.segments() : 1;
    return inTurn * gather.nanos() < scan.nanos() ? gather : scan;
  }

  private Choice walk(Workload task) {
    return of(task.walks() ? Plan.GRAPH : Plan.CPU, task, 0);
  }

  /** Returns the choice to search inverted lists on the device, whatever it costs. */
  public Choice lists(Workload task) {
    return of(Plan.LISTS, task, 0);
  }

  private Choice of(Plan plan, Workload task, double wait) {
    return new Choice(plan, wait, costs.nanos(plan, task));
  }
}
