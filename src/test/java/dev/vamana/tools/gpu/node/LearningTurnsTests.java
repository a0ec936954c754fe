package dev.vamana.tools.gpu.node;

import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.tests.util.LuceneTestCase;

public class LearningTurnsTests extends LuceneTestCase {

  private static final Map<String, Long> BEFORE =
      Map.of("watched_in_micros", 7_000L, "explored_in_micros", 300L, "trials", 4L);

  private static GpuCounters state(Map<String, Long> contested, long windowsOfCpu) {
    return new GpuCounters(
        "active",
        null,
        Map.of("contested", contested, "contested_windows", Map.of("cpu_below_8", windowsOfCpu)));
  }

  /** A turn that was watched and in which counters grew by one, and that had so many windows. */
  private static boolean isQuiet(long windows, String... grown) {
    Map<String, Long> contested = new TreeMap<>(BEFORE);
    contested.merge("watched_in_micros", 400L, Long::sum);
    for (String name : grown) {
      contested.merge(name, 1L, Long::sum);
    }
    return LearningTurns.isQuiet(state(contested, 10 + windows), state(BEFORE, 10));
  }

  public void testTurnsWithoutTrial() {
    assertTrue(isQuiet(2));
    assertTrue(isQuiet(4));
  }

  public void testTurnsWithPartOfATrial() {
    assertFalse("begins", isQuiet(3, "trials"));
    assertFalse("is decided", isQuiet(3, "explored_in_micros"));
    assertFalse("is given up", isQuiet(3, "disturbed"));
    assertFalse("is regretted", isQuiet(3, "changes", "regrets"));
    // windows of a trial are not counted, but for the one that tells the load
    assertFalse("goes on", isQuiet(1));
    assertFalse("goes on", isQuiet(0));
  }

  /** The cost model answers a load of which nothing is known yet, or whose trial was disturbed. */
  public void testTurnsOfTheCostModel() {
    Map<String, Long> contested = new TreeMap<>(BEFORE);
    contested.merge("watched_in_micros", 400L, Long::sum);
    GpuCounters before =
        new GpuCounters(
            "active",
            null,
            Map.of(
                "contested",
                BEFORE,
                "contested_windows",
                Map.of("cpu_below_8", 9L, "model_below_4", 3L)));
    GpuCounters after =
        new GpuCounters(
            "active",
            null,
            Map.of(
                "contested",
                contested,
                "contested_windows",
                Map.of("cpu_below_8", 12L, "model_below_4", 4L)));
    assertFalse(LearningTurns.isQuiet(after, before));
  }

  /** All items are the device's, or all the CPU's: there is nothing to learn. */
  public void testNothingContested() {
    assertTrue(LearningTurns.isQuiet(state(BEFORE, 10), state(BEFORE, 10)));
    assertTrue(LearningTurns.isQuiet(state(Map.of(), 0), state(Map.of(), 0)));
  }
}
