package dev.vamana.cuda.lane;

import dev.vamana.cuda.FewThreads;
import dev.vamana.work.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests that every ticket is ended, whether the waker is awake, asleep or has ended. */
public class WakerTests extends LuceneTestCase {

  private static final String NAME = "waker-of-test";

  /** Lets a caller go on to its next round. */
  private record Permit(int caller, int round) {}

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

    void let(Waker<Permit> waker, int caller, int round) {
      Permit permit = new Permit(caller, round);
      if (waker.take(permit) == false) {
        end(permit);
      }
    }

    void end(Permit permit) {
      allowed.set(permit.caller(), permit.round());
      LockSupport.unpark(threads.get(permit.caller()));
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
    Callers callers = new Callers(count, rounds);
    Waker<Permit> waker = waker(callers);
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

  public void testStopEndsWhatIsLeftAndNothingIsTakenAfterwards() {
    int count = 2 + random().nextInt(20);
    Callers callers = new Callers(count, 2);
    Waker<Permit> waker = waker(callers);
    waker.expect();
    for (int caller = 0; caller < count; caller++) {
      callers.let(waker, caller, 1);
    }
    waker.stop();
    callers.awaitPassed(count);
    assertFalse(waker.take(new Permit(0, 2)));
    for (int caller = 0; caller < count; caller++) {
      callers.let(waker, caller, 2);
    }
    Threads.join(callers.threads);
    assertEquals(2 * count, callers.passed.get());
  }

  /** Without threads the lane ends tickets itself; threads that can be started later help then. */
  public void testThreadsThatCannotBeStarted() {
    Callers callers = new Callers(1, 50);
    int count = 1 + random().nextInt(3);
    Waker<Permit> waker =
        new Waker<>(new FewThreads(4), NAME, count, SpareProcessors.always(), callers::end);
    for (int round = 1; round <= 50; round++) {
      waker.expect();
      callers.let(waker, 0, round);
    }
    assertTrue(runs());
    Threads.join(callers.threads);
    waker.stop();
    assertEquals(50, callers.passed.get());
    assertFalse(runs());
  }

  private static Waker<Permit> waker(Callers callers) {
    return new Waker<>(NAME, 1 + random().nextInt(3), SpareProcessors.always(), callers::end);
  }

  private static boolean runs() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals(NAME));
  }
}
