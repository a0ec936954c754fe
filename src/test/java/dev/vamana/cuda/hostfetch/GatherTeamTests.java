package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.FewThreads;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests that every index of a loop is passed once, with the threads that there are. */
public class GatherTeamTests extends LuceneTestCase {

  private static final int COUNT = 1_000;

  public void testThreadsThatCannotBeStarted() {
    GatherTeam team = new GatherTeam(4, new FewThreads(random().nextInt(5)));
    AtomicIntegerArray passed = new AtomicIntegerArray(COUNT);
    for (int round = 1; round <= 8; round++) {
      team.begin();
      team.forEach(
          COUNT,
          10,
          (from, to, worker) -> {
            assertTrue(worker >= 0 && worker < 4);
            for (int i = from; i < to; i++) {
              passed.incrementAndGet(i);
            }
          });
      team.end();
      for (int i = 0; i < COUNT; i++) {
        assertEquals(round, passed.get(i));
      }
    }
    team.close();
  }
}
