package dev.vamana.cuda.session;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.question.KnownQuestions;
import dev.vamana.cuda.question.WrongAnswerException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Asks sessions what is known, and decides when to ask again. The keeper's thread asks; any thread
 * may {@link #suspect}.
 */
final class Questioner {

  private final long intervalNanos;
  private final long suspicionNanos;
  private final ExecutorCounters counters;
  private KnownQuestions questions;
  private final AtomicLong due = new AtomicLong();

  /**
   * Makes an instance, which has asked nothing yet.
   *
   * @param options time between questions; after a suspicion they wait as long as a first retry
   */
  Questioner(GpuOptions options, ExecutorCounters counters) {
    this.intervalNanos = options.questionNanos();
    this.suspicionNanos = Math.min(options.firstRetryNanos(), intervalNanos);
    this.counters = counters;
    due.set(System.nanoTime());
  }

  /** Whether anything is asked. */
  boolean asks() {
    return intervalNanos > 0;
  }

  /** Returns the nanoseconds until a session in use should be asked; 0 or less if now. */
  long nanosUntilDue() {
    return due.get() - System.nanoTime();
  }

  /**
   * Asks soon, since a call of the driver has failed or a kernel has found what cannot be.
   *
   * @return whether it would have been later otherwise
   */
  boolean suspect() {
    if (asks() == false) {
      return false;
    }
    long soon = System.nanoTime() + suspicionNanos;
    return soon - due.getAndUpdate(at -> soon - at < 0 ? soon : at) < 0;
  }

  /** Begins a round. Whoever is suspicious from now on has another one asked soon. */
  void begin() {
    due.set(System.nanoTime() + intervalNanos);
  }

  /**
   * Asks a session.
   *
   * @param fresh whether the session is not in use yet; then it has to answer everything. A session
   *     in use may fail to answer, as it may fail to answer searches
   * @return why the session must not be used, or null
   */
  GpuException ask(GpuSession session, boolean fresh) {
    begin();
    if (asks() == false || session.enter() == false) {
      return null;
    }
    long start = System.nanoTime();
    try {
      if (questions == null) {
        questions = new KnownQuestions();
      }
      counters.questionsLeftOut.add(questions.ask(session.driver).skipped());
      counters.questioned.increment();
      return null;
    } catch (WrongAnswerException e) {
      counters.questioned.increment();
      counters.wrongAnswers.increment();
      session.distrust();
      return new GpuException(GpuException.Kind.CONTEXT_LOST, e.getMessage(), e);
    } catch (GpuException e) {
      if (e.contextLost()) {
        return e;
      }
      return fresh ? unusable(session, e.getMessage(), e) : unanswered(e);
    } catch (RuntimeException | Error e) {
      // the keeper's thread must survive
      return fresh ? unusable(session, "no question can be asked: " + e, e) : unanswered(e);
    } finally {
      counters.questionNanos.add(System.nanoTime() - start);
      session.exit();
    }
  }

  /** Counts and tells that a session in use did not answer. It stays in use: returns null. */
  private GpuException unanswered(Throwable e) {
    counters.unanswered(e);
    return null;
  }

  private static GpuException unusable(GpuSession session, String why, Throwable cause) {
    session.alive();
    return new GpuException(GpuException.Kind.CONTEXT_LOST, why, cause);
  }
}
