package dev.vamana.cuda.batch;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The threads that wait for what a device has been given. */
final class Waiters {

  private static final int PROCESSORS_PER_SPINNER = 4;
  private static final long SPIN_NANOS = 300_000;
  private static final long POLL_NANOS = 1_000_000;

  private final AtomicInteger waiting = new AtomicInteger();
  private final int maxSpinning =
      Math.max(1, Runtime.getRuntime().availableProcessors() / PROCESSORS_PER_SPINNER);

  /**
   * Waits on the calling thread, which is unparked when there may be an end. An interrupt does not
   * end the wait and is kept.
   *
   * @param blocker what is waited for, as thread dumps tell it
   * @param unwanted whether nobody wants it any more; asked once a millisecond at most
   * @return false if it was unwanted before it had ended
   */
  boolean await(Object blocker, BooleanSupplier ended, BooleanSupplier unwanted) {
    waiting.incrementAndGet();
    try {
      spin(ended);
      return park(blocker, ended, unwanted);
    } finally {
      waiting.decrementAndGet();
    }
  }

  /** Only while so few wait that there are processors to spare: it keeps others from working. */
  private void spin(BooleanSupplier ended) {
    long start = System.nanoTime();
    for (int step = 0;
        ended.getAsBoolean() == false
            && waiting.get() <= maxSpinning
            && System.nanoTime() - start < SPIN_NANOS;
        step++) {
      Spin.once(step);
    }
  }

  private static boolean park(Object blocker, BooleanSupplier ended, BooleanSupplier unwanted) {
    boolean interrupted = false;
    boolean wanted = true;
    while (ended.getAsBoolean() == false && wanted) {
      LockSupport.parkNanos(blocker, POLL_NANOS);
      interrupted |= Thread.interrupted();
      wanted = ended.getAsBoolean() || unwanted.getAsBoolean() == false;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return wanted || ended.getAsBoolean();
  }
}
