package dev.vamana.cuda.lane;

import dev.vamana.cuda.driver.Spin;
import dev.vamana.work.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that run short loops together with the calling thread: they pack large chunks, read
 * results, and copy rows of graphs. Waking a parked thread takes longer than such a loop, so the
 * threads spin while they are held, and for a moment after each loop. One loop at a time gets help.
 */
public final class Team {

  /** Longer than a call of 1,000 items takes from its last chunk to the first of the next call. */
  private static final long SPIN_NANOS = 1_000_000;

  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<Loop> current = new AtomicReference<>();
  private volatile long lastLoop = System.nanoTime() - SPIN_NANOS;
  private volatile boolean held;
  private volatile boolean stopped;
  private volatile boolean started;

  /** The body of a loop. Several threads call it at once, for different indices. */
  @FunctionalInterface
  public interface Work {
    /**
     * Runs the body for the indices from..to-1.
     *
     * @param worker number of the thread, from 0 to the number of helpers
     */
    void run(int from, int to, int worker);
  }

  /**
   * Makes a team whose threads have not started.
   *
   * @param name of the threads, followed by their number
   * @param helpers number of threads beside the calling one
   */
  public Team(String name, int helpers) {
    this(name, helpers, Thread::new);
  }

  /** Makes a team with threads of the factory. */
  Team(String name, int helpers, ThreadFactory factory) {
    for (int i = 1; i <= helpers; i++) {
      int worker = i;
      Thread thread = factory.newThread(() -> help(worker));
      thread.setName(name + "-" + (i - 1));
      thread.setDaemon(true);
      threads.add(thread);
    }
  }

  /**
   * Tells of a loop that may come. Wakes the threads if the last loop, or the last call of this,
   * was a moment ago: waking them does not pay for a lone loop.
   *
   * @return whether the threads may help
   */
  public boolean begin() {
    boolean again = threads.isEmpty() == false && System.nanoTime() - lastLoop < SPIN_NANOS;
    lastLoop = System.nanoTime();
    if (again) {
      wake();
    }
    return again;
  }

  /** Wakes the threads, which spin until {@link #letGo}. By one caller at a time. */
  public void hold() {
    held = true;
    wake();
  }

  /** Ends {@link #hold}. */
  public void letGo() {
    held = false;
  }

  /** Whether threads spin, as the last loop was a moment ago. */
  public boolean awake() {
    return started && System.nanoTime() - lastLoop < SPIN_NANOS;
  }

  /**
   * Runs a loop over 0..count-1 with the threads that are awake and idle, and waits for its end.
   * The calling thread is worker 0.
   *
   * @param step indices that a thread takes at a time
   * @throws RuntimeException what the body throws, as errors are; no thread runs it any more then
   */
  public void forEach(int count, int step, Work work) {
    if (started == false || count <= step) {
      alone(count, work);
      return;
    }
    lastLoop = System.nanoTime();
    Loop loop = new Loop(work, count, step);
    if (current.compareAndSet(null, loop) == false) {
      alone(count, work);
      return;
    }
    try {
      loop.help(0);
      loop.await();
    } finally {
      current.set(null);
    }
  }

  private void alone(int count, Work work) {
    lastLoop = System.nanoTime();
    if (count > 0) {
      work.run(0, count, 0);
    }
  }

  /** Wakes the threads. Those that cannot be started are tried again next time. */
  private synchronized void wake() {
    for (Thread thread : threads) {
      if (stopped == false && thread.getState() == Thread.State.NEW) {
        if (Threads.started(thread) == false) {
          return;
        }
        started = true;
      } else {
        LockSupport.unpark(thread);
      }
    }
  }

  private void help(int worker) {
    int spins = 0;
    while (stopped == false) {
      Loop loop = current.get();
      if (loop != null && loop.help(worker)) {
        spins = 0;
      } else if (held || System.nanoTime() - lastLoop < SPIN_NANOS) {
        Spin.once(spins++);
      } else {
        LockSupport.park(this);
      }
    }
  }

  /** Ends the threads. Loops that still come run on the calling thread. */
  public void stop() {
    synchronized (this) {
      stopped = true;
    }
    threads.forEach(LockSupport::unpark);
    Threads.join(threads);
  }

  /** The indices of one loop, of which each thread takes some at a time. */
  private static final class Loop {
    private final Work work;
    private final int count;
    private final int step;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private volatile Throwable failure;

    Loop(Work work, int count, int step) {
      this.work = work;
      this.count = count;
      this.step = step;
    }

    /** Takes indices until all are taken; says whether this took any. */
    boolean help(int worker) {
      boolean any = false;
      int from;
      while (next.get() < count && (from = next.getAndAdd(step)) < count) {
        int to = Math.min(count, from + step);
        try {
          if (failure == null) {
            work.run(from, to, worker);
          }
        } catch (RuntimeException | Error e) {
          failure = e;
        } finally {
          done.addAndGet(to - from);
        }
        any = true;
      }
      return any;
    }

    /** Waits for the others, which takes some microseconds. */
    void await() {
      for (int spins = 0; done.get() < count; spins++) {
        Spin.once(spins);
      }
      if (failure instanceof Error error) {
        throw error;
      }
      if (failure != null) {
        throw (RuntimeException) failure;
      }
    }
  }
}
