package dev.vamana.cuda.devices;

import dev.vamana.cuda.GpuExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/** One of several devices, and how much it has to do. Thread-safe. */
final class Member {

  // distances times components that keep a multiprocessor occupied; walks wait for memory, so a
  // device answers more of them in the same time until it has several hundred under way
  private static final double FULL_MULTIPROCESSOR = 250_000;

  final int index;
  final GpuExecutor executor;
  private final AtomicLong pending = new AtomicLong();
  private final DoubleAdder workSeconds = new DoubleAdder();
  private final LongAdder items = new LongAdder();
  private final AtomicInteger builds = new AtomicInteger();

  /**
   * Makes a member without work.
   *
   * @param index number among the members, from 0
   */
  Member(int index, GpuExecutor executor) {
    this.index = index;
    this.executor = executor;
  }

  /** Work of the calls under way, in distances times components. */
  long pending() {
    return pending.get();
  }

  /** Counts a call in; returns when it began. */
  long begin(long work, int count) {
    pending.addAndGet(work);
    items.add(count);
    return System.nanoTime();
  }

  /** Counts a call out. */
  void end(long work, long began) {
    pending.addAndGet(-work);
    workSeconds.add(work * 1e-9 * (System.nanoTime() - began));
  }

  /** Work under way that fills the device, in distances times components. */
  double full() {
    return FULL_MULTIPROCESSOR * Math.max(1, executor.device().multiprocessors());
  }

  /**
   * Mean work under way since the last time this was asked, of the calls that have ended, in parts
   * of what fills the device; one thread asks.
   */
  double takeBusy(double seconds) {
    return workSeconds.sumThenReset() / (seconds * full());
  }

  /** Items so far. */
  long items() {
    return items.sum();
  }

  /** Graphs and codebooks under way. */
  int builds() {
    return builds.get();
  }

  /** Counts a graph or a codebook in. */
  Build build() {
    builds.incrementAndGet();
    return new Build();
  }

  /** A graph or a codebook that is under way until it is closed, by the thread that began it. */
  final class Build {
    private boolean open = true;

    /** Counts it out, once. */
    void close() {
      if (open) {
        open = false;
        builds.decrementAndGet();
      }
    }
  }
}
