package dev.vamana.cuda.call;

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
}
