package dev.vamana.tools.gpu.node;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Map;
import org.junit.Test;

public class ThreadTimesTests {

  private static String thread(String name, double millis) {
    return "\""
        + name
        + "\" #12 [34] daemon prio=5 os_prio=0 cpu="
        + millis
        + "ms elapsed=7.5s tid=0x1 nid=34 runnable  [0x2]\n   java.lang.Thread.State: RUNNABLE\n\n";
  }

  @Test
  public void threadsAreGroupedByWhatTheyDo() {
    ThreadTimes before = ThreadTimes.parse(thread("elasticsearch[n][search][T#1]", 10));
    ThreadTimes after =
        ThreadTimes.parse(
            thread("elasticsearch[n][search][T#1]", 30)
                + thread("elasticsearch[n][search][T#2]", 5)
                + thread("elasticsearch[n][transport_worker][T#1]", 8)
                + thread("elasticsearch[n][vamana_build][T#1]", 1)
                + thread("vamana-gpu-walks", 2)
                + "\"G1 Conc#0\" os_prio=0 cpu=3.00ms elapsed=7.5s tid=0x3 nid=3 runnable\n"
                + thread("C2 CompilerThread0", 4)
                + thread("main", 1));
    Map<String, Double> micros = after.microsPerRequest(before, 10);
    assertEquals(2500, micros.get("search"), 1e-6);
    assertEquals(800, micros.get("http"), 1e-6);
    assertEquals(200, micros.get("gpu"), 1e-6);
    assertEquals(300, micros.get("gc"), 1e-6);
    assertEquals(400, micros.get("jit"), 1e-6);
    assertEquals(200, micros.get("other"), 1e-6);
  }

  @Test
  public void aSplitTellsWhatASearchWithoutCostWouldGive() {
    Findings.Split half = new Findings.Split("ours", "stock", 0.95, 50, 20, 20, 10, 1.7);
    assertEquals(0.5, half.searchShare(), 1e-9);
    assertEquals(2, half.allowed(), 1e-9);
    assertTrue("80 % of 2 is less than 1.7", half.reached());
    Findings.Split most = new Findings.Split("ours", "stock", 0.99, 80, 10, 5, 5, 2.9);
    assertFalse("three times is wanted above 75 %", most.reached());
    assertTrue(new Findings.Split("ours", "stock", 0.99, 80, 10, 5, 5, 3).reached());
  }
}
