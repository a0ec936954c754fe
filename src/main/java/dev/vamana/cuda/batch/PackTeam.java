package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.Spin;
import dev.vamana.work.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that help callers to pack large chunks and to read their results. Waking a parked thread
 * takes longer than it would save, so the threads spin for a moment after each large chunk, and
 * find the next call of a row. They start, and wake, only when a large call follows another; a lone
 * one packs by itself. One chunk at a time gets help.
 *
 * <p>{@link WalkLane} has one, {@link Packer} asks it.
 */
final class PackTeam {

  /** Bytes of a chunk that is worth help: it takes a caller about ten microseconds. */
  static final int LEAST_BYTES = 64 << 10;

  /** Longer than a call of 1,000 items takes from its last chunk to the first of the next call. */
  private static final long SPIN_NANOS = 1_000_000;

  private static final int PROCESSORS_PER_HELPER = 4;

  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<Job> current = new AtomicReference<>();
  private volatile long lastLarge = System.nanoTime() - SPIN_NANOS;
  private volatile boolean stopped;
  private volatile boolean started;

  /** Makes a team of at most so many threads, and of no more than a quarter of the processors. */
  static PackTeam of(int most) {
    int processors = Runtime.getRuntime().availableProcessors();
    return new PackTeam(Math.min(most, processors / PROCESSORS_PER_HELPER));
  }

  /** Makes a team whose threads have not started. */
  PackTeam(int count) {
    this(count, Thread::new);
  }

  /** Makes a team with threads of the factory. */
  PackTeam(int count, ThreadFactory factory) {
    for (int i = 0; i < count; i++) {
      Thread thread = factory.newThread(this::help);
      thread.setName("vamana-gpu-packer-" + i);
      thread.setDaemon(true);
      threads.add(thread);
    }
  }

  /**
   * Tells of a call before its first large chunk is packed. Wakes the threads if the last large
   * chunk was a moment ago.
   *
   * @return whether the threads may help this call
   */
  boolean begin() {
    boolean again = threads.isEmpty() == false && System.nanoTime() - lastLarge < SPIN_NANOS;
    lastLarge = System.nanoTime();
    if (again) {
      start();
    }
    return again;
  }

  /** Whether threads spin, as the last large chunk was a moment ago. */
  boolean awake() {
    return started && System.nanoTime() - lastLarge < SPIN_NANOS;
  }

  /**
   * Packs or reads the items of a chunk, with the threads that are awake and idle.
   *
   * @param count number of items
   * @param step items that a thread takes at a time
   * @throws RuntimeException what a share throws, as errors are; no share runs any more then
   */
  void share(int count, int step, Share share) {
    lastLarge = System.nanoTime();
    Job job = new Job(share, count, step);
    if (threads.isEmpty() || current.compareAndSet(null, job) == false) {
      share.take(0, count);
      return;
    }
    try {
      job.work();
      job.await();
    } finally {
      current.set(null);
    }
  }

  /** Wakes the threads. Those that cannot be started are tried again next time. */
  private synchronized void start() {
    for (Thread thread : threads) {
      if (stopped == false && thread.getState() == Thread.State.NEW) {
        if (Threads.started(thread) == false) {
          return;
        }
        started = true;
      } else if (LockSupport.getBlocker(thread) != null) {
        LockSupport.unpark(thread);
      }
    }
  }

  private void help() {
    int spins = 0;
    while (stopped == false) {
      Job job = current.get();
      if (job != null && job.work()) {
        spins = 0;
      } else if (System.nanoTime() - lastLarge < SPIN_NANOS) {
        Spin.once(spins++);
      } else {
        LockSupport.park(this);
      }
    }
  }

  /** Ends the threads. Nobody packs any more. */
  void stop() {
    synchronized (this) {
      stopped = true;
    }
    threads.forEach(LockSupport::unpark);
    Threads.join(threads);
  }

  /** The items of one chunk, of which each thread takes some at a time. */
  private static final class Job {
    private final Share share;
    private final int count;
    private final int step;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private volatile Throwable failure;

    Job(Share share, int count, int step) {
      this.share = share;
      this.count = count;
      this.step = step;
    }

    /** Takes items until all are taken; says whether this took any. */
    boolean work() {
      boolean any = false;
      int from;
      while (next.get() < count && (from = next.getAndAdd(step)) < count) {
        int to = Math.min(count, from + step);
        try {
          if (failure == null) {
            share.take(from, to);
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
