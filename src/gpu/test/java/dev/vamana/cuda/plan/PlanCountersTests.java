package dev.vamana.cuda.plan;

import java.util.ArrayList;
import java.util.List;
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
                  counters.add(plan, 3);
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
    }
  }
}
