package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.Test;

/** Which calls of a batched search wait for others. */
public class ShardTurnsTests {
  private final List<String> started = new ArrayList<>();
  private final List<Runnable> ends = new ArrayList<>();

  private void take(ShardTurns turns, String name, long bytes) {
    turns.take(
        name.substring(0, 1),
        bytes,
        end -> {
          started.add(name);
          ends.add(end);
        });
  }

  @Test
  public void testCallsToANode() {
    ShardTurns turns = new ShardTurns(2, 0);
    for (String name : List.of("a1", "a2", "a3", "b1", "a4")) {
      take(turns, name, 0);
    }
    assertEquals(List.of("a1", "a2", "b1"), started);
    ends.get(2).run();
    assertEquals(List.of("a1", "a2", "b1"), started);
    ends.get(1).run();
    ends.get(1).run();
    assertEquals("an end counts once", List.of("a1", "a2", "b1", "a3"), started);
    ends.get(0).run();
    assertEquals(List.of("a1", "a2", "b1", "a3", "a4"), started);
  }

  @Test
  public void testBytes() {
    ShardTurns turns = new ShardTurns(9, 100);
    take(turns, "a1", 300);
    take(turns, "b1", 60);
    take(turns, "c1", 0);
    take(turns, "d1", 60);
    take(turns, "e1", 40);
    assertEquals(List.of("a1", "c1"), started);
    ends.get(0).run();
    assertEquals(List.of("a1", "c1", "b1", "e1"), started);
    ends.get(3).run();
    assertEquals(4, started.size());
    ends.get(2).run();
    assertEquals(List.of("a1", "c1", "b1", "e1", "d1"), started);
  }

  /** Such as calls to a node that has left. */
  @Test
  public void testManyCallsThatEndAtOnce() {
    ShardTurns turns = new ShardTurns(1, 1);
    int[] most = new int[2];
    int calls = 20_000;
    turns.take(
        "a",
        1,
        first -> {
          for (int i = 0; i < calls; i++) {
            turns.take(
                "a",
                1,
                end -> {
                  most[0]++;
                  most[1] = Math.max(most[1], Thread.currentThread().getStackTrace().length);
                  end.run();
                });
          }
          first.run();
        });
    assertEquals(calls, most[0]);
    assertTrue("frames " + most[1], most[1] < 200);
  }
}
