package dev.vamana.cuda.plan;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;

/**
 * Counts executed plans, and their predicted and measured times. Counters only grow. Thread-safe.
 */
public final class PlanCounters {

  private static final String PERCENT_GROUP = "plan_percent_";
  private static final long NANOS_PER_MICRO = 1000;

  /**
   * Upper bounds of buckets: measured time in percent of the predicted time. The last bucket has no
   * bound.
   */
  private static final int[] PERCENT = {12, 25, 50, 100, 200, 400, 800};

  private final Map<Plan, Sums> sums = new EnumMap<>(Plan.class);

  private static final class Sums {
    private final LongAdder batches = new LongAdder();
    private final LongAdder calls = new LongAdder();
    private final LongAdder items = new LongAdder();
    private final LongAdder predicted = new LongAdder();
    private final LongAdder measured = new LongAdder();
    private final LongAdder[] ratios = new LongAdder[PERCENT.length + 1];

    private Sums() {
      Arrays.setAll(ratios, bucket -> new LongAdder());
    }
  }

  /** Makes counters of value 0. */
  public PlanCounters() {
    for (Plan plan : Plan.values()) {
      sums.put(plan, new Sums());
    }
  }

  /**
   * Counts the items of one call answered by one plan.
   *
   * @param predictedNanos time predicted by the cost model
   * @param measuredNanos time from submission to the hits
   */
  public void add(Plan plan, int items, double predictedNanos, long measuredNanos) {
    Sums own = sums.get(plan);
    own.calls.increment();
    own.items.add(items);
    addTimes(plan, 1, predictedNanos, measuredNanos);
  }

  /**
   * Counts the times of several calls together. The calls and their items are counted elsewhere.
   *
   * @param predictedNanos time predicted for all of them
   * @param measuredNanos time of all of them
   */
  public void addTimes(Plan plan, int calls, double predictedNanos, long measuredNanos) {
    Sums own = sums.get(plan);
    own.predicted.add((long) predictedNanos);
    own.measured.add(measuredNanos);
    own.ratios[bucket(predictedNanos, measuredNanos)].add(calls);
  }

  private static int bucket(double predictedNanos, long measuredNanos) {
    int bucket = 0;
    while (bucket < PERCENT.length && 100.0 * measuredNanos > PERCENT[bucket] * predictedNanos) {
      bucket++;
    }
    return bucket;
  }

  /** Counts a batch of an exact plan that the device searched, of one call or several. */
  public void searched(Plan plan) {
    sums.get(plan).batches.increment();
  }

  /**
   * Adds all counters by name and plan: batches of exact plans, calls, items, and predicted and
   * measured microseconds. One group per plan counts calls by percent of the predicted time: {@code
   * up_to_12}, which includes all smaller ratios, to {@code up_to_800}, and {@code more}.
   */
  public void addTo(SortedMap<String, SortedMap<String, Long>> groups) {
    SortedMap<String, Long> batches = byPlan(own -> own.batches.sum());
    batches.remove(Plan.GRAPH.statisticsName());
    batches.remove(Plan.LISTS.statisticsName());
    batches.remove(Plan.CPU.statisticsName());
    groups.put("plan_batches", batches);
    groups.put("plan_calls", byPlan(own -> own.calls.sum()));
    groups.put("plan_items", byPlan(own -> own.items.sum()));
    groups.put("plan_predicted_micros", byPlan(own -> own.predicted.sum() / NANOS_PER_MICRO));
    groups.put("plan_measured_micros", byPlan(own -> own.measured.sum() / NANOS_PER_MICRO));
    sums.forEach((plan, own) -> groups.put(PERCENT_GROUP + plan.statisticsName(), ratios(own)));
  }

  private static SortedMap<String, Long> ratios(Sums own) {
    SortedMap<String, Long> named = new TreeMap<>();
    for (int bucket = 0; bucket < PERCENT.length; bucket++) {
      named.put("up_to_" + PERCENT[bucket], own.ratios[bucket].sum());
    }
    named.put("more", own.ratios[PERCENT.length].sum());
    return named;
  }

  private SortedMap<String, Long> byPlan(ToLongFunction<Sums> number) {
    SortedMap<String, Long> named = new TreeMap<>();
    sums.forEach((plan, own) -> named.put(plan.statisticsName(), number.applyAsLong(own)));
    return named;
  }
}
