package dev.vamana.cuda.hostfetch;

import dev.vamana.work.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * A team of threads that run short loops together with the calling thread. A step of a walk leaves
 * about a tenth of a millisecond for its loop, less than waking a thread takes; so between {@link
 * #begin} and {@link #end} the threads spin.
 */
final class GatherTeam {

  private static final int SPINS_BEFORE_YIELD = 1_000;

  /** The body of a loop. */
  @FunctionalInterface
  interface Work {
    /**
     * Runs the body for the indices from..to-1.
     *
     * @param worker number of the thread, below the team's size
     */
    void run(int from, int to, int worker);
  }

  private static final class Loop {
    private final Work work;
    private final int count;
    private final int chunk;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    Loop(Work work, int count, int chunk) {
      this.work = work;
      this.count = count;
      this.chunk = chunk;
    }

    /** Takes chunks of the loop until none is left. */
    void help(int worker) {
      int from;
      while ((from = next.getAndAdd(chunk)) < count) {
        int to = Math.min(count, from + chunk);
        try {
          work.run(from, to, worker);
        } catch (Throwable e) {
          failure.compareAndSet(null, e);
        }
        done.addAndGet(to - from);
      }
    }

    boolean open() {
      return next.get() < count;
    }
  }

  private final int size;
  private final ThreadFactory factory;
  private final List<Thread> threads = new ArrayList<>();
  private volatile Loop loop;
  private volatile boolean active;
  private volatile boolean closed;

  /**
   * Makes a team. Its threads start when they are first needed.
   *
   * @param size number of threads, including the calling one
   */
  GatherTeam(int size) {
    this(size, Thread::new);
  }

  /** Makes a team with threads of the factory. */
  GatherTeam(int size, ThreadFactory factory) {
    this.size = size;
    this.factory = factory;
  }

  private void start() {
    for (int worker = threads.size() + 1; worker < size; worker++) {
      int number = worker;
      Thread thread = factory.newThread(() -> work(number));
      thread.setName("vamana-gpu-gather-" + worker);
      thread.setDaemon(true);
      if (Threads.started(thread) == false) {
        return;
      }
      threads.add(thread);
    }
  }

  /**
   * Wakes the threads for loops to come. Those that cannot be started are tried again next time.
   */
  void begin() {
    start();
    active = true;
    threads.forEach(LockSupport::unpark);
  }

  /** Lets the threads sleep. */
  void end() {
    active = false;
    loop = null;
  }

  /**
   * Runs a loop over {@code 0 <= index < count} and waits for its end. The calling thread takes
   * part as worker 0; without {@link #begin}, or if the loop has only one chunk, it runs the loop
   * alone.
   *
   * @param chunk indices taken at a time
   */
  void forEach(int count, int chunk, Work work) {
    if (active == false || threads.isEmpty() || count <= chunk) {
      if (count > 0) {
        work.run(0, count, 0);
      }
      return;
    }
    Loop own = new Loop(work, count, chunk);
    loop = own;
    own.help(0);
    for (int spins = 0; own.done.get() < count; spins++) {
      pause(spins);
    }
    Throwable failure = own.failure.get();
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure != null) {
      throw new IllegalStateException("a loop failed", failure);
    }
  }

  private void work(int worker) {
    int spins = 0;
    while (closed == false) {
      Loop current = loop;
      if (current != null && current.open()) {
        current.help(worker);
        spins = 0;
      } else if (active) {
        pause(spins++);
      } else {
        LockSupport.park(this);
        spins = 0;
      }
    }
  }

  /** Waits a moment. After many waits the thread yields its processor. */
  @SuppressWarnings("ThreadPriorityCheck") // yielding affects only the speed of other threads
  private static void pause(int spins) {
    if (spins < SPINS_BEFORE_YIELD) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  /** Stops the threads. */
  void close() {
    closed = true;
    end();
    threads.forEach(LockSupport::unpark);
    Threads.join(threads);
  }
}
