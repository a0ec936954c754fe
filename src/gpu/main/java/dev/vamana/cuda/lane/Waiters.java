package dev.vamana.cuda.lane;

import dev.vamana.cuda.driver.Spin;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Lets callers wait for results of a device: they spin while only few threads wait and processors
 * are left, and park otherwise.
 */
public final class Waiters {

  private static final int PROCESSORS_PER_SPINNER = 4;
  // a batch of 10,000 takes about as long
  private static final long SPIN_NANOS = 2_000_000;
  private static final long MEANWHILE_NANOS = 5_000;
  private static final long POLL_NANOS = 1_000_000;

  private final AtomicInteger waiting = new AtomicInteger();
  private final int maxSpinning;
  private final SpareProcessors spare;

  /**
   * Makes an instance.
   *
   * @param maxSpinning most callers that spin; if more wait, all park
   * @param spare whether any may spin
   */
  public Waiters(int maxSpinning, SpareProcessors spare) {
    this.maxSpinning = maxSpinning;
    this.spare = spare;
  }

  /** Returns one caller for every fourth processor. */
  public static int usualSpinners() {
    return Math.max(1, Runtime.getRuntime().availableProcessors() / PROCESSORS_PER_SPINNER);
  }

  /** As {@link #await(Ticket, BooleanSupplier, Runnable)}, with nothing to do meanwhile. */
  public boolean await(Ticket ticket, BooleanSupplier unwanted) {
    return await(ticket, unwanted, () -> {});
  }

  /**
   * Waits on the calling thread until a ticket is done or a segment of it is being closed. The lane
   * unparks the caller. An interrupt does not end the wait; the interrupt status is kept.
   *
   * @param unwanted whether the result is not wanted any more; asked at most once a millisecond
   * @param meanwhile done again and again while the thread spins
   * @return false if {@code unwanted} became true before
   */
  public boolean await(Ticket ticket, BooleanSupplier unwanted, Runnable meanwhile) {
    BooleanSupplier ended = () -> ticket.done() || ticket.closing();
    if (ticket.brief() == false) {
      return park(ticket, ended, unwanted);
    }
    waiting.incrementAndGet();
    try {
      spin(ended, meanwhile);
      return park(ticket, ended, unwanted);
    } finally {
      waiting.decrementAndGet();
    }
  }

  /** Spins only while few threads wait, since spinning keeps other threads from the processors. */
  private void spin(BooleanSupplier ended, Runnable meanwhile) {
    long start = System.nanoTime();
    long now = start;
    long last = start;
    for (int step = 0;
        ended.getAsBoolean() == false
            && waiting.get() <= maxSpinning
            && spare.scarce() == false
            && now - start < SPIN_NANOS;
        step++) {
      Spin.once(step);
      now = System.nanoTime();
      if (now - last > MEANWHILE_NANOS) {
        meanwhile.run();
        now = System.nanoTime();
        last = now;
      }
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
