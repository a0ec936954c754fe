package dev.vamana.cuda.lane;

import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

/** Tests when threads stop spinning. The clocks are the test's. */
public class SpareProcessorsTests extends LuceneTestCase {

  private static final long MILLI = 1_000_000;

  private long now;
  private long processor;
  private final SpareProcessors spare = new SpareProcessors(() -> processor);

  @Override
  public void setUp() throws Exception {
    super.setUp();
    now = TestUtil.nextLong(random(), -(1L << 40), 1L << 40);
    processor = TestUtil.nextLong(random(), 0, 1L << 40);
  }

  /** The lane's thread spins for a while, and has a processor for a share of the time. */
  private void spin(long millis, double share) {
    for (long end = now + millis * MILLI; now < end; ) {
      spare.spinning(now);
      long step = TestUtil.nextLong(random(), 500, MILLI);
      now += step;
      processor += (long) (share * step);
    }
  }

  private void nap(long millis) {
    now += millis * MILLI;
    spare.waiting(now);
  }

  public void testThreadsSpinWhileTheLaneHasAProcessor() {
    spin(100, 1);
    assertFalse(spare.scarce());
    spin(100, 0.95);
    assertFalse(spare.scarce());
  }

  public void testNobodySpinsWhenTheLaneIsKeptFromItsProcessor() {
    spin(50, 1);
    spin(TestUtil.nextLong(random(), 20, 100), 0.8);
    assertTrue(spare.scarce());
  }

  public void testAfterAWhileThreadsSpinAgain() {
    spin(50, 0.5);
    assertTrue(spare.scarce());
    nap(24);
    assertTrue(spare.scarce());
    nap(2);
    assertFalse(spare.scarce());
    spin(50, 1);
    assertFalse(spare.scarce());
    spin(50, 0.5);
    assertTrue(spare.scarce());
  }
}
