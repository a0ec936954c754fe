package dev.vamana.cuda.session;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.tests.util.LuceneTestCase;

/** When questions are asked. */
public class QuestionerTests extends LuceneTestCase {

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

  private static Questioner questioner() {
    return new Questioner(
        GpuOptions.DEFAULT.withQuestions(INTERVAL).withRetry(RETRY, 2 * RETRY),
        new ExecutorCounters(new Silent()));
  }

  public void testSuspicions() {
    Questioner questioner = questioner();
    assertTrue("the first round is due", questioner.nanosUntilDue() <= 0);
    questioner.begin();
    assertTrue(questioner.nanosUntilDue() > RETRY);
    assertTrue(questioner.suspect());
    assertTrue(questioner.nanosUntilDue() <= RETRY);
    assertFalse("is asked already", questioner.suspect());
    questioner.begin();
    assertTrue(questioner.nanosUntilDue() > RETRY);
    assertTrue(questioner.suspect());
  }

  /** Whoever is suspicious after a round has begun is heard, whatever happened at its beginning. */
  public void testSuspicionsWhileARoundBegins() throws Exception {
    Questioner questioner = questioner();
    int rounds = 2_000;
    CyclicBarrier barrier = new CyclicBarrier(2);
    Thread suspicious =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < rounds; i++) {
                  barrier.await();
                  questioner.suspect();
                  barrier.await();
                }
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
    suspicious.start();
    for (int i = 0; i < rounds; i++) {
      barrier.await();
      questioner.begin();
      barrier.await();
      questioner.suspect();
      assertTrue("round " + i, questioner.nanosUntilDue() <= RETRY);
    }
    suspicious.join();
  }
}
