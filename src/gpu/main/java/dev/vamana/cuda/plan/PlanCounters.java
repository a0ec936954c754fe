package dev.vamana.cuda.plan;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/** Counts executed plans. Counters only grow. Thread-safe. */
public final class PlanCounters {

  private static final List<Plan> EXACT = List.of(Plan.SCAN, Plan.GATHER);

  private final Map<Plan, Sums> sums = new EnumMap<>(Plan.class);

  private record Sums(LongAdder batches, LongAdder calls, LongAdder items) {}

  /** Makes counters of value 0. */
  public PlanCounters() {
    for (Plan plan : Plan.values()) {
      sums.put(plan, new Sums(new LongAdder(), new LongAdder(), new LongAdder()));
    }
  }

  /** Counts the items of one call answered by one plan, unless there are none. */
  public void add(Plan plan, int items) {
    if (items == 0) {
      return;
    }
    Sums own = sums.get(plan);
    own.calls.increment();
    own.items.add(items);
  }

  /** Counts a batch of an exact plan that the device searched, of one call or several. */
  public void searched(Plan plan) {
    sums.get(plan).batches.increment();
  }

  /** Adds all counters by name and plan: batches of exact plans, calls, and items. */
  public void addTo(SortedMap<String, SortedMap<String, Long>> groups) {
    groups.put("plan_batches", by(EXACT, Sums::batches));
    groups.put("plan_calls", by(List.of(Plan.values()), Sums::calls));
    groups.put("plan_items", by(List.of(Plan.values()), Sums::items));
  }

  private SortedMap<String, Long> by(List<Plan> plans, Function<Sums, LongAdder> number) {
    SortedMap<String, Long> named = new TreeMap<>();
    plans.forEach(plan -> named.put(plan.statisticsName(), number.apply(sums.get(plan)).sum()));
    return named;
  }
}
