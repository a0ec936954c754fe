package dev.vamana.cuda.call;

import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanCounters;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Records how many items of one call walk on the device and how many the CPU answers, with
 * predicted and measured times of both. {@link DeviceCall} records exact searches itself, one
 * ticket at a time.
 */
final class CallTimes {

  private final PlanLoad load;
  private final PlanCounters plans;
  private final Set<Decision> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private int walks;
  private int lists;
  private int forCpu;
  private double walkNanos;
  private double listNanos;
  private double cpuNanos;
  private long handedOver;
  private boolean begun;

  CallTimes(PlanLoad load, PlanCounters plans) {
    this.load = load;
    this.plans = plans;
  }

  /** Counts planned items. */
  void planned(Decision decision, int count) {
    Plan plan = decision.choice().plan();
    if (plan == Plan.LISTS) {
      lists += count;
      listNanos = Math.max(listNanos, decision.choice().nanos());
    } else if (plan == Plan.GRAPH) {
      walks += count;
      // each prediction already includes the other walks of the batch
      walkNanos = Math.max(walkNanos, decision.choice().nanos());
    } else if (plan == Plan.CPU) {
      forCpu += count;
      cpuNanos += seen.add(decision) ? decision.choice().nanos() : 0;
    }
  }

  /** Marks the end of planning: the call hands its items over now. */
  void begin() {
    begun = true;
    load.walking.addAndGet(walks + lists);
    load.onCpu.add(forCpu);
    handedOver = System.nanoTime();
  }

  /**
   * Records that the CPU has answered the items planned for it.
   *
   * @param since {@link System#nanoTime} when the CPU began
   */
  void answeredOnCpu(long since) {
    if (forCpu > 0) {
      plans.add(Plan.CPU, forCpu, cpuNanos, System.nanoTime() - since);
    }
  }

  /** Records that all walks and searches of lists on the device have ended. */
  void walked() {
    if (walks > 0) {
      plans.add(Plan.GRAPH, walks, walkNanos, System.nanoTime() - handedOver);
    }
    if (lists > 0) {
      plans.add(Plan.LISTS, lists, listNanos, System.nanoTime() - handedOver);
    }
  }

  /** Ends the call, after success or failure. */
  void close() {
    if (begun) {
      load.walking.addAndGet(-walks - lists);
      load.onCpu.add(-forCpu);
    }
  }
}
