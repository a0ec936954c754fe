package dev.vamana.tools.benchmark;

import java.lang.management.ManagementFactory;
import org.apache.lucene.tests.util.LuceneTestCase;

public class QuantizationClockTests extends LuceneTestCase {

  public void testSplitsWhatLiesBetweenTheLines() {
    QuantizationClock clock = new QuantizationClock();
    assertTrue(clock.isEnabled(QuantizationClock.COMPONENT));
    assertFalse(clock.isEnabled("IW"));
    for (int segment = 0; segment < 2; segment++) {
      burn(20_000_000);
      clock.message(QuantizationClock.COMPONENT, QuantizationClock.BEGIN + "field");
      burn(20_000_000);
      clock.message(QuantizationClock.COMPONENT, QuantizationClock.END + "field");
    }
    BuildCost[] parts = clock.split(new BuildCost(10, 20, 30));
    assertEquals(10, parts[0].cpuSeconds() + parts[1].cpuSeconds(), 1e-9);
    assertEquals(20, parts[0].wallSeconds() + parts[1].wallSeconds(), 1e-9);
    assertTrue(parts[1].cpuSeconds() >= 0.04);
    assertEquals(30, parts[1].peakHeapMb(), 0);
  }

  public void testNoLines() {
    BuildCost whole = new BuildCost(10, 20, 30);
    BuildCost[] parts = new QuantizationClock().split(whole);
    assertEquals(whole, parts[0]);
    assertEquals(BuildCost.NONE, parts[1]);
  }

  private static void burn(long cpuNanos) {
    long end = cpuNanos + ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end) {
      Thread.onSpinWait();
    }
  }
}
