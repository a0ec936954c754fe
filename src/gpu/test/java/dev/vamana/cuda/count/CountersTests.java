package dev.vamana.cuda.count;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests groups of counters with names. */
public class CountersTests extends LuceneTestCase {

  public void testSumsAreOfAllCounters() {
    Counters counters = new Counters();
    LongAdder sent = counters.add("sent");
    Map<TimeUnit, LongAdder> units =
        counters.addAll(TimeUnit.class, unit -> "in_" + unit.name().charAt(0) + unit.ordinal());
    assertEquals(TimeUnit.values().length + 1, counters.sums().size());
    sent.add(3);
    units.get(TimeUnit.DAYS).increment();
    Map<String, Long> before = counters.sums();
    sent.add(4);
    assertEquals("a snapshot", 3L, (long) before.get("sent"));
    assertEquals(7L, (long) counters.sums().get("sent"));
    assertEquals(1L, (long) counters.sums().get("in_D6"));
    assertEquals(0L, (long) counters.sums().get("in_N0"));
  }
}
