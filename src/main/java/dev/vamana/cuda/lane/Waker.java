package dev.vamana.cuda.lane;

import dev.vamana.cuda.driver.Spin;
import dev.vamana.work.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wake parked callers for a lane. Waking a caller takes microseconds. If the lane woke
 * the callers of a dozen tickets itself, it would launch nothing for that long, which is as long as
 * a short launch takes. The threads start when they are first wanted, spin for a moment after each
 * caller and then park.
 */
public final class Waker {

  private static final long SPIN_NANOS = 200_000;

  private final ConcurrentLinkedQueue<Thread> callers = new ConcurrentLinkedQueue<>();
  private final SpareProcessors spare;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger awake = new AtomicInteger();
  private boolean started;
  private volatile boolean stopped;

  /**
   * Makes a waker whose threads have not started.
   *
   * @param name of the threads
   * @param count number of threads, at least 1
   * @param spare whether they may spin; if not, the lane wakes callers itself
   */
  public Waker(String name, int count, SpareProcessors spare) {
    this.spare = spare;
    for (int i = 0; i < count; i++) {
      Thread thread = new Thread(this::run, name);
      thread.setDaemon(true);
      threads.add(thread);
    }
  }

  /** Has the threads awake when callers come. Called by the lane alone, as is {@link #wake}. */
  public void expect() {
    if (awake.get() == threads.size() || spare.scarce()) {
      return;
    }
    threads.forEach(started ? LockSupport::unpark : Thread::start);
    started = true;
  }

  /** Wakes a caller. A thread does so if one is awake and the caller is parked. */
  public void wake(Thread caller) {
    // a caller that is not parked costs nothing
    if (awake.get() == 0 || LockSupport.getBlocker(caller) == null) {
      LockSupport.unpark(caller);
      return;
    }
    callers.add(caller);
    if (awake.get() == 0) {
      wakeAll();
    }
  }

  private void wakeAll() {
    Thread caller;
    while ((caller = callers.poll()) != null) {
      LockSupport.unpark(caller);
    }
  }

  private void run() {
    awake.incrementAndGet();
    long last = System.nanoTime();
    for (int step = 0; ; step++) {
      Thread caller = callers.poll();
      if (caller != null) {
        LockSupport.unpark(caller);
        last = System.nanoTime();
        step = 0;
      } else if (stopped) {
        awake.decrementAndGet();
        wakeAll();
        return;
      } else if (spare.scarce() == false && System.nanoTime() - last < SPIN_NANOS) {
        Spin.once(step);
      } else {
        awake.decrementAndGet();
        if (callers.isEmpty() && stopped == false) {
          LockSupport.park(this);
        }
        awake.incrementAndGet();
        last = System.nanoTime();
        step = 0;
      }
    }
  }

  /** Ends the threads after they have woken all. The lane wakes nobody any more. */
  public void stop() {
    stopped = true;
    if (started) {
      threads.forEach(LockSupport::unpark);
      threads.forEach(Threads::join);
    }
  }
}
