package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import org.elasticsearch.core.TimeValue;
import org.junit.Test;

public class ElapsedTests {
  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 500);
  private final Elapsed elapsed = new Elapsed(clock::get);

  @Test
  public void testTimeIsInWholeMillisecondsOfTheClock() {
    assertEquals(0, elapsed.time().millis());
    clock.addAndGet(999_999);
    assertEquals(0, elapsed.time().millis());
    clock.addAndGet(1);
    assertEquals(1, elapsed.time().millis());
    clock.addAndGet(41_000_000);
    assertEquals(42, elapsed.time().millis());
  }

  @Test
  public void testLimits() {
    assertTrue(elapsed.reached(TimeValue.ZERO));
    assertFalse(elapsed.reached(TimeValue.timeValueMillis(3)));
    clock.addAndGet(2_999_999);
    assertFalse(elapsed.reached(TimeValue.timeValueMillis(3)));
    clock.addAndGet(1);
    assertTrue(elapsed.reached(TimeValue.timeValueMillis(3)));
    assertFalse(elapsed.reached(null));
    assertFalse(elapsed.reached(TimeValue.MINUS_ONE));
  }
}
