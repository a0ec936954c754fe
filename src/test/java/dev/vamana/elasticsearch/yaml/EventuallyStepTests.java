package dev.vamana.elasticsearch.yaml;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.Test;

/** Steps that are repeated: all of them, not for ever, and only because of assertions. */
public class EventuallyStepTests {
  private static final Duration LONG = Duration.ofMinutes(5);

  private final AtomicInteger first = new AtomicInteger();
  private final AtomicInteger second = new AtomicInteger();

  private Step failsUntil(int trial) {
    return execution -> {
      if (second.incrementAndGet() < trial) {
        throw new AssertionError("trial " + second);
      }
    };
  }

  private void run(Step last, Duration patience) throws IOException {
    Step counting = execution -> first.incrementAndGet();
    new EventuallyStep(List.of(counting, last), patience).run(null);
  }

  @Test
  public void testAllAreRepeated() throws IOException {
    run(failsUntil(4), LONG);
    assertEquals(4, first.get());
    assertEquals(4, second.get());
  }

  @Test
  public void testPatienceEnds() {
    AssertionError failure =
        assertThrows(
            AssertionError.class, () -> run(failsUntil(Integer.MAX_VALUE), Duration.ofMillis(20)));
    assertTrue(second.get() > 1);
    assertEquals("trial " + second, failure.getMessage());
  }

  @Test
  public void testWhatCannotBeRunIsNotRepeated() {
    Step broken =
        execution -> {
          throw new IllegalArgumentException("as it is written");
        };
    assertThrows(IllegalArgumentException.class, () -> run(broken, LONG));
    assertEquals(1, first.get());
  }

  @Test
  public void testReading() throws IOException {
    Suite suite =
        Suite.parse(
            "file",
            """
            test:
              - eventually:
                  - do: { search: {} }
                  - match: { a: 1 }
              - do: { cluster.health: {} }
            """);
    assertEquals(Set.of("cluster.health", "search"), suite.apis());
    for (String wrong :
        List.of("{ match: { a: 1 } }", "[]", "[ { matches: { a: 1 } } ]", "[ match ]")) {
      assertThrows(
          wrong,
          IllegalArgumentException.class,
          () -> Suite.parse("file", "test:\n  - eventually: " + wrong + "\n"));
    }
  }
}
