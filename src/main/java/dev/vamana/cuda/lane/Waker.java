package dev.vamana.cuda.lane;

import dev.vamana.cuda.driver.Spin;
import dev.vamana.work.Threads;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that wakes parked callers for a lane. Waking a caller takes microseconds. If the lane
 * woke the callers of a dozen tickets itself, it would launch nothing for that long, which is as
 * long as a short launch takes. The thread starts when it is first wanted, spins for a moment after
 * each caller and then parks.
 */
public final class Waker {

  private static final long SPIN_NANOS = 200_000;

  private final ConcurrentLinkedQueue<Thread> callers = new ConcurrentLinkedQueue<>();
  private final SpareProcessors spare;
  private final Thread thread;
  private boolean started;
  private volatile boolean awake;
  private volatile boolean stopped;

  /**
   * Makes a waker whose thread has not started.
   *
   * @param spare whether it may spin; if not, the lane wakes callers itself
   */
  public Waker(String name, SpareProcessors spare) {
    this.spare = spare;
    thread = new Thread(this::run, name);
    thread.setDaemon(true);
  }

  /** Has the thread awake when callers come. Called by the lane alone, as is {@link #wake}. */
  public void expect() {
    if (awake || spare.scarce()) {
      return;
    }
    if (started == false) {
      started = true;
      thread.start();
    } else {
      LockSupport.unpark(thread);
    }
  }

  /** Wakes a caller. The thread does so if it is awake and the caller is parked. */
  public void wake(Thread caller) {
    // a caller that is not parked costs nothing
    if (awake == false || LockSupport.getBlocker(caller) == null) {
      LockSupport.unpark(caller);
      return;
    }
    callers.add(caller);
    if (awake == false) {
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
    awake = true;
    long last = System.nanoTime();
    for (int step = 0; ; step++) {
      Thread caller = callers.poll();
      if (caller != null) {
        LockSupport.unpark(caller);
        last = System.nanoTime();
        step = 0;
      } else if (stopped) {
        awake = false;
        wakeAll();
        return;
      } else if (spare.scarce() == false && System.nanoTime() - last < SPIN_NANOS) {
        Spin.once(step);
      } else {
        awake = false;
        if (callers.isEmpty() && stopped == false) {
          LockSupport.park(this);
        }
        awake = true;
        last = System.nanoTime();
        step = 0;
      }
    }
  }

  /** Ends the thread after it has woken all. The lane wakes nobody any more. */
  public void stop() {
    stopped = true;
    if (started) {
      LockSupport.unpark(thread);
      Threads.join(thread);
    }
  }
}
