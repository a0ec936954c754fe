package dev.vamana.cuda.lane;

import dev.vamana.cuda.FewThreads;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests that every index of a loop is passed once, whoever helps. */
public class TeamTests extends LuceneTestCase {

  /** Tells of calls until one comes so soon after another that threads may help. */
  private static void beginInARow(Team team) {
    while (team.begin() == false) {
      Thread.onSpinWait();
    }
  }

  private static void packAll(Team team, int count, int step) {
    AtomicIntegerArray packed = new AtomicIntegerArray(count);
    int[] plain = new int[count];
    team.forEach(
        count,
        step,
        (from, to, worker) -> {
          for (int i = from; i < to; i++) {
            packed.incrementAndGet(i);
            plain[i] = i + 1;
          }
        });
    for (int i = 0; i < count; i++) {
      assertEquals(1, packed.get(i));
      // what helpers have written is there for the caller
      assertEquals(i + 1, plain[i]);
    }
  }

  public void testEveryItemIsPackedOnce() {
    Team team = new Team("team", 1 + random().nextInt(3));
    try {
      for (int round = 0; round < 200; round++) {
        beginInARow(team);
        int count = 1 + random().nextInt(3_000);
        packAll(team, count, 1 + random().nextInt(200));
      }
    } finally {
      team.stop();
    }
  }

  /** The caller hears of a failure of any thread, and the next chunk is packed as ever. */
  public void testFailure() {
    Team team = new Team("team", 2);
    try {
      for (int round = 0; round < 50; round++) {
        beginInARow(team);
        int bad = random().nextInt(1_000);
        boolean error = random().nextBoolean();
        Class<? extends Throwable> expected =
            error ? StackOverflowError.class : IllegalStateException.class;
        Throwable failed =
            expectThrows(
                expected,
                () ->
                    team.forEach(
                        1_000,
                        100,
                        (from, to, worker) -> {
                          if (from <= bad && bad < to) {
                            if (error) {
                              throw new StackOverflowError("item " + bad);
                            }
                            throw new IllegalStateException("item " + bad);
                          }
                        }));
        assertEquals("item " + bad, failed.getMessage());
        packAll(team, 1_000, 100);
      }
    } finally {
      team.stop();
    }
  }

  /** A lone call gets no help: no thread starts for it. */
  public void testALoneCallStartsNoThread() {
    Team team = new Team("team", 2);
    assertFalse(team.begin());
    assertFalse(team.awake());
    assertTrue(Thread.getAllStackTraces().keySet().stream().noneMatch(TeamTests::packs));
    team.stop();
  }

  private static boolean packs(Thread thread) {
    return thread.getName().startsWith("team");
  }

  public void testThreadsThatCannotBeStarted() {
    Team team = new Team("team", 2, new FewThreads(3));
    for (int round = 0; round < 10; round++) {
      beginInARow(team);
      packAll(team, 1_000, 10);
    }
    assertEquals(2, Thread.getAllStackTraces().keySet().stream().filter(TeamTests::packs).count());
    team.stop();
    assertTrue(Thread.getAllStackTraces().keySet().stream().noneMatch(TeamTests::packs));
  }
}
