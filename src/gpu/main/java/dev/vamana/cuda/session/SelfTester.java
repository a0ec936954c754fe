package dev.vamana.cuda.session;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.selftest.SelfTest;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Runs the self-test in sessions, and decides when to run it again. The keeper's thread runs it;
 * any thread may {@link #suspect}.
 */
final class SelfTester {

  private final long intervalNanos;
  private final long suspicionNanos;
  private final ExecutorCounters counters;
  private final AtomicLong due = new AtomicLong(System.nanoTime());
  private SelfTest test;

  /**
   * Makes an instance, which has run nothing yet.
   *
   * @param options time between self-tests; after a suspicion they wait as long as a first retry
   */
  SelfTester(GpuOptions options, ExecutorCounters counters) {
    this.intervalNanos = options.times().selfTest();
    this.suspicionNanos = Math.min(options.times().firstRetry(), intervalNanos);
    this.counters = counters;
  }

  /** Whether anything is tested. */
  boolean tests() {
    return intervalNanos > 0;
  }

  /** Returns the nanoseconds until a session in use should be tested; 0 or less if now. */
  long nanosUntilDue() {
    return due.get() - System.nanoTime();
  }

  /**
   * Tests soon, since a call of the driver has failed or a kernel has found what cannot be.
   *
   * @return whether it would have been later otherwise
   */
  boolean suspect() {
    long soon = System.nanoTime() + suspicionNanos;
    return soon - due.getAndUpdate(at -> soon - at < 0 ? soon : at) < 0;
  }

  /** Begins a test. Whoever is suspicious from now on has another one run soon. */
  void begin() {
    due.set(System.nanoTime() + intervalNanos);
  }

  /**
   * Tests a session.
   *
   * @param fresh whether the session is not in use yet; then it has to answer everything. A session
   *     in use may fail to answer, as it may fail to answer searches
   * @return why the session must not be used, or null
   */
  GpuException test(GpuSession session, boolean fresh) {
    begin();
    if (tests() == false || session.enter() == false) {
      return null;
    }
    try {
      if (test == null) {
        test = new SelfTest();
      }
      counters.questionsLeftOut.add(test.run(session.lanes()));
      counters.questioned.increment();
      return null;
    } catch (SelfTest.WrongAnswerException e) {
      counters.questioned.increment();
      return session.distrust(e.getMessage(), e);
    } catch (GpuException e) {
      if (e.contextLost()) {
        return e;
      }
      return fresh ? unusable(session, e.getMessage(), e) : unanswered(e);
    } catch (RuntimeException | Error e) {
      // the keeper's thread must survive
      return fresh ? unusable(session, "the self-test cannot run: " + e, e) : unanswered(e);
    } finally {
      session.exit();
    }
  }

  /** Tells that a session in use did not answer. It stays in use: returns null. */
  private GpuException unanswered(Throwable e) {
    counters.unanswered(e);
    return null;
  }

  private static GpuException unusable(GpuSession session, String why, Throwable cause) {
    session.alive();
    return new GpuException(GpuException.Kind.CONTEXT_LOST, why, cause);
  }
}
