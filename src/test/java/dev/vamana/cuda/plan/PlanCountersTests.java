package dev.vamana.cuda.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Tests that counters add up exactly with any number of threads, and never decrease. */
public class PlanCountersTests extends PlanTestCase {

  private static SortedMap<String, SortedMap<String, Long>> read(PlanCounters counters) {
    SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>();
    counters.addTo(groups);
    return groups;
  }

  public void testConcurrently() throws InterruptedException {
    PlanCounters counters = new PlanCounters();
    int threads = 4;
    int rounds = 5000;
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < rounds; i++) {
                  Plan plan = Plan.values()[i % Plan.values().length];
                  counters.add(plan, 3, 700.9, i / Plan.values().length % 2 == 0 ? 1300 : 5200);
                }
              });
      all.add(thread);
      thread.start();
    }
    SortedMap<String, SortedMap<String, Long>> before = read(counters);
    for (int i = 0; i < 100; i++) {
      SortedMap<String, SortedMap<String, Long>> now = read(counters);
      before.forEach(
          (group, values) ->
              values.forEach(
                  (plan, value) -> assertTrue(group, now.get(group).get(plan) >= value)));
      before = now;
    }
    for (Thread thread : all) {
      thread.join();
    }
    long calls = (long) threads * rounds / Plan.values().length;
    SortedMap<String, SortedMap<String, Long>> groups = read(counters);
    for (Plan plan : Plan.values()) {
      String name = plan.statisticsName();
      assertEquals(calls, (long) groups.get("plan_calls").get(name));
      assertEquals(3 * calls, (long) groups.get("plan_items").get(name));
      assertEquals(calls * 700 / 1000, (long) groups.get("plan_predicted_micros").get(name));
      assertEquals(calls * 3250 / 1000, (long) groups.get("plan_measured_micros").get(name));
      SortedMap<String, Long> percent = groups.get("plan_percent_" + name);
      assertEquals(8, percent.size());
      assertEquals(calls / 2, (long) percent.get("up_to_200"));
      assertEquals(calls / 2, (long) percent.get("up_to_800"));
      assertEquals(calls, percent.values().stream().mapToLong(Long::longValue).sum());
    }
  }

  /** Calls by percent of the predicted time, a limit belongs to the bucket that it ends. */
  public void testRatios() {
    PlanCounters counters = new PlanCounters();
    long[] measured = {0, 120, 121, 250, 500, 501, 1000, 1001, 2000, 4000, 8000, 8001, 1_000_000};
    for (long nanos : measured) {
      counters.add(Plan.SCAN, 5, 1000, nanos);
    }
    counters.add(Plan.GATHER, 1, 0, 1);
    counters.add(Plan.CPU, 1, 0, 0);
    SortedMap<String, SortedMap<String, Long>> groups = read(counters);
    assertEquals(
        Map.of(
            "up_to_12", 2L,
            "up_to_25", 2L,
            "up_to_50", 1L,
            "up_to_100", 2L,
            "up_to_200", 2L,
            "up_to_400", 1L,
            "up_to_800", 1L,
            "more", 2L),
        groups.get("plan_percent_scan"));
    assertEquals(1L, (long) groups.get("plan_percent_gather").get("more"));
    assertEquals(1L, (long) groups.get("plan_percent_cpu").get("up_to_12"));
    assertEquals(0, groups.get("plan_percent_graph").values().stream().mapToLong(n -> n).sum());
  }
}
