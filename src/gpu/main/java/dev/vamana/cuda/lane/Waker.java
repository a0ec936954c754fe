package dev.vamana.cuda.lane;

import dev.vamana.cuda.driver.Spin;
import dev.vamana.work.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Threads that end tickets for a lane, and so wake their callers, which takes microseconds. If the
 * lane ended a dozen tickets itself, it would launch nothing for that long, which is as long as a
 * short launch takes. The threads start when they are first wanted, spin for a moment after each
 * ticket and then park.
 */
public final class Waker<T> {

  private static final long SPIN_NANOS = 200_000;

  private final ConcurrentLinkedQueue<T> tickets = new ConcurrentLinkedQueue<>();
  private final SpareProcessors spare;
  private final Consumer<T> end;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger awake = new AtomicInteger();
  private volatile boolean stopped;

  /**
   * Makes a waker whose threads have not started.
   *
   * @param name of the threads
   * @param count number of threads, at least 1
   * @param spare whether they may spin; if not, the lane ends tickets itself
   * @param end ends a ticket and wakes its caller; throws nothing
   */
  public Waker(String name, int count, SpareProcessors spare, Consumer<T> end) {
    this(Thread::new, name, count, spare, end);
  }

  /** Makes a waker with threads of the factory. */
  Waker(ThreadFactory factory, String name, int count, SpareProcessors spare, Consumer<T> end) {
    this.spare = spare;
    this.end = end;
    for (int i = 0; i < count; i++) {
      Thread thread = factory.newThread(this::run);
      thread.setName(name);
      thread.setDaemon(true);
      threads.add(thread);
    }
  }

  /**
   * Returns how many threads a lane's waker should have: 64 callers keep one busy, few processors
   * need one.
   */
  public static int usualThreads() {
    return Math.min(2, Waiters.usualSpinners());
  }

  /**
   * Has the threads awake when tickets come. Those that cannot be started are tried again next
   * time. Called by the lane alone, as is {@link #take}.
   */
  public void expect() {
    if (awake.get() == threads.size() || spare.scarce()) {
      return;
    }
    for (Thread thread : threads) {
      if (thread.getState() != Thread.State.NEW) {
        LockSupport.unpark(thread);
      } else if (Threads.started(thread) == false) {
        return;
      }
    }
  }

  /** Takes a ticket to end it. Returns false if no thread is awake. */
  public boolean take(T ticket) {
    if (awake.get() == 0) {
      return false;
    }
    tickets.add(ticket);
    if (awake.get() == 0) {
      endAll();
    }
    return true;
  }

  private void endAll() {
    T ticket;
    while ((ticket = tickets.poll()) != null) {
      end.accept(ticket);
    }
  }

  private void run() {
    awake.incrementAndGet();
    long last = System.nanoTime();
    for (int step = 0; ; step++) {
      T ticket = tickets.poll();
      if (ticket != null) {
        end.accept(ticket);
        last = System.nanoTime();
        step = 0;
      } else if (stopped) {
        awake.decrementAndGet();
        endAll();
        return;
      } else if (spare.scarce() == false && System.nanoTime() - last < SPIN_NANOS) {
        Spin.once(step);
      } else {
        awake.decrementAndGet();
        if (tickets.isEmpty() && stopped == false) {
          LockSupport.park(this);
        }
        awake.incrementAndGet();
        last = System.nanoTime();
        step = 0;
      }
    }
  }

  /** Ends the threads after they have ended all tickets. The lane gives no more. */
  public void stop() {
    stopped = true;
    threads.forEach(LockSupport::unpark);
    Threads.join(threads);
  }
}
