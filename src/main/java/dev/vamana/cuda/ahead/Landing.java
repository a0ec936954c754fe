package dev.vamana.cuda.ahead;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The moment when the answers of a {@link Flight} are there. The threads that wait for it are woken
 * by the one that brings the answers: a latch has each wake the next, one after the other, which
 * takes as long as the search itself if a query has eight segments.
 */
final class Landing {

  private static final long POLL_NANOS = 1_000_000;

  private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();
  private volatile boolean landed;

  /** Whether the answers are there. */
  boolean landed() {
    return landed;
  }

  /** Publishes the answers, and wakes the threads that wait. */
  void land() {
    landed = true;
    Thread thread;
    while ((thread = waiting.poll()) != null) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Waits on the calling thread until the answers are there, or are not wanted any more. An
   * interrupt does not end the wait; the interrupt status is kept.
   *
   * @param unwanted asked once a millisecond
   */
  void await(BooleanSupplier unwanted) {
    if (landed) {
      return;
    }
    waiting.add(Thread.currentThread());
    boolean interrupted = false;
    while (landed == false && unwanted.getAsBoolean() == false) {
      LockSupport.parkNanos(this, POLL_NANOS);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
