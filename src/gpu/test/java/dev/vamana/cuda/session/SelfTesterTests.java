package dev.vamana.cuda.session;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.tests.util.LuceneTestCase;

/** When the self-test runs. */
public class SelfTesterTests extends LuceneTestCase {

  private static final long INTERVAL = TimeUnit.HOURS.toNanos(10);
  private static final long RETRY = TimeUnit.HOURS.toNanos(1);

  private static final class Silent implements GpuListener {
    @Override
    public void fallback(FallbackReason reason, String detail) {}

    @Override
    public void lost(GpuException cause, long retryMillis) {}

    @Override
    public void stillLost(GpuException cause, long retryMillis) {}

    @Override
    public void recovered(DeviceInfo device) {}
  }

  private static SelfTester tester() {
    return new SelfTester(
        GpuOptions.DEFAULT
            .withTimes(times -> times.selfTest(INTERVAL))
            .withTimes(times -> times.retry(RETRY, 2 * RETRY)),
        new ExecutorCounters(new Silent()));
  }

  public void testSuspicions() {
    SelfTester tester = tester();
    assertTrue("the first round is due", tester.nanosUntilDue() <= 0);
    tester.begin();
    assertTrue(tester.nanosUntilDue() > RETRY);
    assertTrue(tester.suspect());
    assertTrue(tester.nanosUntilDue() <= RETRY);
    assertFalse("is due already", tester.suspect());
    tester.begin();
    assertTrue(tester.nanosUntilDue() > RETRY);
    assertTrue(tester.suspect());
  }

  /** Whoever is suspicious after a round has begun is heard, whatever happened at its beginning. */
  public void testSuspicionsWhileARoundBegins() throws Exception {
    SelfTester tester = tester();
    int rounds = 2_000;
    CyclicBarrier barrier = new CyclicBarrier(2);
    Thread suspicious =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < rounds; i++) {
                  barrier.await();
                  tester.suspect();
                  barrier.await();
                }
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
    suspicious.start();
    for (int i = 0; i < rounds; i++) {
      barrier.await();
      tester.begin();
      barrier.await();
      tester.suspect();
      assertTrue("round " + i, tester.nanosUntilDue() <= RETRY);
    }
    suspicious.join();
  }
}
