package dev.vamana.cuda;

import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanCounters;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * What a call has on the device's walks and on the CPU, and how long both take. Exact searches are
 * timed one by one.
 */
final class CallTimes {

  private final PlanLoad load;
  private final PlanCounters plans;
  private final Set<Decision> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private int walks;
  private int forCpu;
  private double walkNanos;
  private double cpuNanos;
  private long handedOver;
  private boolean begun;

  CallTimes(PlanLoad load, PlanCounters plans) {
    this.load = load;
    this.plans = plans;
  }

  /** Counts an item. */
  void planned(Decision decision) {
    Plan plan = decision.choice().plan();
    boolean fresh = seen.add(decision);
    if (plan == Plan.GRAPH) {
      walks++;
      // each is predicted with all that walk beside it
      walkNanos = Math.max(walkNanos, decision.choice().nanos());
    } else if (plan == Plan.CPU) {
      forCpu++;
      cpuNanos += fresh ? decision.choice().nanos() : 0;
    }
  }

  /** Everything is planned, and is handed over now. */
  void begin() {
    begun = true;
    load.walking.addAndGet(walks);
    load.onCpu.addAndGet(forCpu);
    handedOver = System.nanoTime();
  }

  /**
   * The CPU has answered what was planned for it.
   *
   * @param since when it began
   */
  void answeredOnCpu(long since) {
    if (forCpu > 0) {
      plans.add(Plan.CPU, forCpu, cpuNanos, System.nanoTime() - since);
    }
  }

  /** All walks of the device have ended. */
  void walked() {
    if (walks > 0) {
      plans.add(Plan.GRAPH, walks, walkNanos, System.nanoTime() - handedOver);
    }
  }

  /** The call is at its end, well or not. */
  void close() {
    if (begun) {
      load.walking.addAndGet(-walks);
      load.onCpu.addAndGet(-forCpu);
    }
  }
}
