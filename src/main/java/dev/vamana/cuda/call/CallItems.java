package dev.vamana.cuda.call;

import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanCounters;

/**
 * Counts the items of one call that walk on the device or are answered by the CPU, and tells {@link
 * PlanLoad} of them while the call lasts. {@link DeviceCall} counts exact searches itself, one
 * ticket at a time.
 */
final class CallItems {

  private final PlanLoad load;
  private final PlanCounters plans;
  private int walks;
  private int lists;
  private int forCpu;
  private boolean begun;

  CallItems(PlanLoad load, PlanCounters plans) {
    this.load = load;
    this.plans = plans;
  }

  /** Counts planned items. */
  void planned(Decision decision, int count) {
    Plan plan = decision.choice().plan();
    if (plan == Plan.LISTS) {
      lists += count;
    } else if (plan == Plan.GRAPH) {
      walks += count;
    } else if (plan == Plan.CPU) {
      forCpu += count;
    }
  }

  /** Marks the end of planning: the call hands its items over now. */
  void begin() {
    begun = true;
    load.walking.addAndGet(walks + lists);
    load.onCpu.add(forCpu);
  }

  /** Counts that the CPU has answered the items planned for it. */
  void answeredOnCpu() {
    count(Plan.CPU, forCpu);
  }

  /** Counts that all walks and searches of lists on the device have ended. */
  void walked() {
    count(Plan.GRAPH, walks);
    count(Plan.LISTS, lists);
  }

  private void count(Plan plan, int items) {
    if (items > 0) {
      plans.add(plan, items);
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
