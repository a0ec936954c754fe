package dev.vamana.cuda.call;

import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanCounters;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the items that all calls of an executor work on now. The cost model adds them to a call's
 * own items.
 */
public final class PlanLoad {

  /** Items walking on the device. */
  final AtomicInteger walking = new AtomicInteger();

  /** Items being answered by the CPU. */
  final LongAdder onCpu = new LongAdder();

  /** Processors of the node; asking the JVM for each item would take as long as a prediction. */
  final int processors = Runtime.getRuntime().availableProcessors();

  /** Whether no call has items on the device. */
  public boolean idle() {
    return walking.get() <= 0;
  }

  /** Begins to count the items of a call. */
  Call call(PlanCounters plans) {
    return new Call(plans);
  }

  /**
   * The items of one call that walk on the device or are answered by the CPU. Exact searches are
   * counted by their tickets.
   */
  final class Call {
    private final PlanCounters plans;
    private int walks;
    private int lists;
    private int forCpu;
    private boolean begun;

    private Call(PlanCounters plans) {
      this.plans = plans;
    }

    /** Counts planned items. */
    void planned(Plan plan, int count) {
      walks += plan == Plan.GRAPH ? count : 0;
      lists += plan == Plan.LISTS ? count : 0;
      forCpu += plan == Plan.CPU ? count : 0;
    }

    /** Marks the end of planning: the call hands its items over now. */
    void begin() {
      begun = true;
      walking.addAndGet(walks + lists);
      onCpu.add(forCpu);
    }

    /** Counts that the CPU has answered the items planned for it. */
    void answeredOnCpu() {
      plans.add(Plan.CPU, forCpu);
    }

    /** Counts that all walks and searches of lists on the device have ended. */
    void walked() {
      plans.add(Plan.GRAPH, walks);
      plans.add(Plan.LISTS, lists);
    }

    /** Ends the call, after success or failure. */
    void close() {
      if (begun) {
        walking.addAndGet(-walks - lists);
        onCpu.add(-forCpu);
      }
    }
  }
}
