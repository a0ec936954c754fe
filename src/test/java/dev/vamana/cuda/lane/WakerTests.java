package dev.vamana.cuda.lane;

import dev.vamana.work.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests that every caller is woken, whether its waker is awake, asleep or has ended. */
public class WakerTests extends LuceneTestCase {

  private static final String NAME = "waker-of-test";

  /** Callers that park until they may go on, round after round, as callers of a lane do. */
  private static final class Callers {
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicIntegerArray allowed;
    private final AtomicInteger passed = new AtomicInteger();

    Callers(int count, int rounds) {
      allowed = new AtomicIntegerArray(count);
      for (int i = 0; i < count; i++) {
        int own = i;
        threads.add(
            new Thread(
                () -> {
                  for (int round = 1; round <= rounds; round++) {
                    while (allowed.get(own) < round) {
                      LockSupport.park(this);
                    }
                    passed.incrementAndGet();
                  }
                },
                "caller-of-test-" + i));
      }
      threads.forEach(Thread::start);
    }

    void let(Waker waker, int caller, int round) {
      allowed.set(caller, round);
      waker.wake(threads.get(caller));
    }

    void awaitPassed(int count) {
      while (passed.get() < count) {
        Thread.onSpinWait();
      }
    }
  }

  /** The test ends only if each caller is woken in each round. */
  public void testAllCallersAreWoken() {
    int count = 1 + random().nextInt(20);
    int rounds = 1 + random().nextInt(100);
    Waker waker = new Waker(NAME, 1 + random().nextInt(3), SpareProcessors.always());
    Callers callers = new Callers(count, rounds);
    for (int round = 1; round <= rounds; round++) {
      if (random().nextBoolean()) {
        waker.expect();
      }
      if (random().nextInt(20) == 0) {
        // so long that the waker parks
        LockSupport.parkNanos(1_000_000);
      }
      for (int caller = 0; caller < count; caller++) {
        callers.let(waker, caller, round);
      }
      callers.awaitPassed(round * count);
    }
    Threads.join(callers.threads);
    waker.stop();
    assertEquals(count * rounds, callers.passed.get());
    assertFalse(runs());
  }

  public void testStopWakesWhatIsLeftAndWakesAfterwards() {
    int count = 2 + random().nextInt(20);
    Waker waker = new Waker(NAME, 1 + random().nextInt(3), SpareProcessors.always());
    Callers callers = new Callers(count, 2);
    waker.expect();
    for (int caller = 0; caller < count; caller++) {
      callers.let(waker, caller, 1);
    }
    waker.stop();
    callers.awaitPassed(count);
    for (int caller = 0; caller < count; caller++) {
      callers.let(waker, caller, 2);
    }
    Threads.join(callers.threads);
    assertEquals(2 * count, callers.passed.get());
  }

  /** Where few callers wait nobody expects any, and no thread starts. */
  public void testNoThreadStartsUnlessCallersAreExpected() {
    Waker waker = new Waker(NAME, 1 + random().nextInt(3), SpareProcessors.always());
    Callers callers = new Callers(1, 1);
    callers.let(waker, 0, 1);
    Threads.join(callers.threads);
    assertFalse(runs());
    waker.stop();
  }

  private static boolean runs() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals(NAME));
  }
}
