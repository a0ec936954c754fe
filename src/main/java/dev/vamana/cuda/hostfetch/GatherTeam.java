package dev.vamana.cuda.hostfetch;

import dev.vamana.work.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that share short loops with the one that starts them. A step has about a tenth of a
 * millisecond for its loop, less than it takes to wake a thread; so between {@link #begin} and
 * {@link #end} they wait without sleeping.
 */
final class GatherTeam {

  private static final int SPINS_BEFORE_YIELD = 1_000;

  /** A part of a loop. */
  @FunctionalInterface
  interface Work {
    /**
     * Does the work of some indices.
     *
     * @param worker number of the thread, below the size of the team
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

    /** Does what is left of it, until nothing is. */
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
  private final List<Thread> threads = new ArrayList<>();
  private volatile Loop loop;
  private volatile boolean active;
  private volatile boolean closed;

  /**
   * Makes a team, whose threads start when they are first needed.
   *
   * @param size threads of a loop, the calling one included
   */
  GatherTeam(int size) {
    this.size = size;
  }

  private void start() {
    for (int worker = 1; worker < size; worker++) {
      int number = worker;
      Thread thread = new Thread(() -> work(number), "vamana-gpu-gather-" + worker);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
  }

  /** Loops will follow soon. */
  void begin() {
    if (threads.isEmpty()) {
      start();
    }
    active = true;
    threads.forEach(LockSupport::unpark);
  }

  /** No loops for a while. */
  void end() {
    active = false;
    loop = null;
  }

  /**
   * Runs a loop over {@code 0 <= index < count} and waits for its end; the calling thread, worker
   * 0, takes part. Without {@link #begin}, or if it is short, it is alone.
   *
   * @param chunk indices that are handed out at a time
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

  /** Waits a moment; a thread that has waited long lets others have the processor. */
  @SuppressWarnings("ThreadPriorityCheck") // nothing depends on it but how others fare
  static void pause(int spins) {
    if (spins < SPINS_BEFORE_YIELD) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  /** Ends the threads. */
  void close() {
    closed = true;
    end();
    threads.forEach(LockSupport::unpark);
    Threads.join(threads);
  }
}
