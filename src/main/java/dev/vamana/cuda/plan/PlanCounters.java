package dev.vamana.cuda.plan;

import java.util.EnumMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;

/** Which plans were carried out, and how long they took; every number only grows. Thread-safe. */
public final class PlanCounters {

  private static final long NANOS_PER_MICRO = 1000;

  private final Map<Plan, Sums> sums = new EnumMap<>(Plan.class);

  private static final class Sums {
    private final LongAdder batches = new LongAdder();
    private final LongAdder calls = new LongAdder();
    private final LongAdder items = new LongAdder();
    private final LongAdder predicted = new LongAdder();
    private final LongAdder measured = new LongAdder();
  }

  /** Makes counters that stand at 0. */
  public PlanCounters() {
    for (Plan plan : Plan.values()) {
      sums.put(plan, new Sums());
    }
  }

  /**
   * Counts the items of one call that were answered by one plan.
   *
   * @param predictedNanos what the model said
   * @param measuredNanos from handing them over to having their hits
   */
  public void add(Plan plan, int items, double predictedNanos, long measuredNanos) {
    Sums own = sums.get(plan);
    own.calls.increment();
    own.items.add(items);
    own.predicted.add((long) predictedNanos);
    own.measured.add(measuredNanos);
  }

  /** Counts a batch that the device searched for an exact plan, of one call or several. */
  public void searched(Plan plan) {
    sums.get(plan).batches.increment();
  }

  /**
   * Adds all by name and plan: batches of exact plans, calls that a plan had items of, these items,
   * and the microseconds that were predicted and measured for them.
   */
  public void addTo(SortedMap<String, SortedMap<String, Long>> groups) {
    SortedMap<String, Long> batches = byPlan(own -> own.batches.sum());
    batches.remove(Plan.GRAPH.statisticsName());
    batches.remove(Plan.CPU.statisticsName());
    groups.put("plan_batches", batches);
    groups.put("plan_calls", byPlan(own -> own.calls.sum()));
    groups.put("plan_items", byPlan(own -> own.items.sum()));
    groups.put("plan_predicted_micros", byPlan(own -> own.predicted.sum() / NANOS_PER_MICRO));
    groups.put("plan_measured_micros", byPlan(own -> own.measured.sum() / NANOS_PER_MICRO));
  }

  private SortedMap<String, Long> byPlan(ToLongFunction<Sums> number) {
    SortedMap<String, Long> named = new TreeMap<>();
    sums.forEach((plan, own) -> named.put(plan.statisticsName(), number.applyAsLong(own)));
    return named;
  }
}
