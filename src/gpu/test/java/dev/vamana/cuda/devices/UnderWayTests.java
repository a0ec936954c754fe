package dev.vamana.cuda.devices;

import com.carrotsearch.randomizedtesting.generators.RandomNumbers;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.tests.util.LuceneTestCase;

/** How busy a device is with the work that it has under way. */
public class UnderWayTests extends LuceneTestCase {

  private static final double FULL = 1_000;
  private static final long MILLISECOND = 1_000_000;

  private final AtomicLong now = new AtomicLong();
  private final UnderWay underWay = new UnderWay(now::get);

  private void call(long work, long milliseconds) {
    underWay.add(work, FULL);
    now.addAndGet(milliseconds * MILLISECOND);
    underWay.add(-work, FULL);
  }

  private void idle(long milliseconds) {
    now.addAndGet(milliseconds * MILLISECOND);
  }

  /** A burst counts for the time that it takes, not for its size. */
  public void testBursts() {
    for (int burst = 0; burst < 2; burst++) {
      call(RandomNumbers.randomIntBetween(random(), 1_000, 1_000_000), 10);
      idle(490);
    }
    assertEquals(0.02, underWay.takeBusy(FULL, 1), 1e-9);
    idle(1_000);
    assertEquals("counted once", 0, underWay.takeBusy(FULL, 1), 0);
  }

  public void testAFewCallsFillAPart() {
    call(250, 400);
    idle(600);
    assertEquals(0.1, underWay.takeBusy(FULL, 1), 1e-9);
  }

  /** Calls at the same time add up, whether they have ended or not. */
  public void testCallsAtTheSameTime() {
    underWay.add(300, FULL);
    idle(200);
    underWay.add(300, FULL);
    idle(300);
    assertEquals(0.2 * 0.3 + 0.3 * 0.6, underWay.takeBusy(FULL, 1), 1e-9);
    underWay.add(900, FULL);
    idle(500);
    underWay.add(-1_200, FULL);
    idle(500);
    assertEquals(0.5 + 0.5 * 0.3, underWay.takeBusy(FULL, 1), 1e-9);
    assertEquals(300, underWay.work());
  }
}
