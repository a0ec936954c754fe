package dev.vamana.cuda.devices;

import dev.vamana.cuda.GpuExecutor;
import java.util.concurrent.atomic.LongAdder;

/** One of several devices, and how much it has to do. Thread-safe. */
final class Member {

  // distances times components that keep a multiprocessor occupied; walks wait for memory, so a
  // device answers more of them in the same time until it has several hundred under way
  private static final double FULL_MULTIPROCESSOR = 250_000;

  final int index;
  final GpuExecutor executor;
  private final UnderWay underWay = new UnderWay(System::nanoTime);
  private final LongAdder items = new LongAdder();

  /**
   * Makes a member without work.
   *
   * @param index number among the members, from 0
   */
  Member(int index, GpuExecutor executor) {
    this.index = index;
    this.executor = executor;
  }

  /** Counts a call in. */
  void begin(long work, int count) {
    underWay.add(work, full());
    items.add(count);
  }

  /** Counts a call out. */
  void end(long work) {
    underWay.add(-work, full());
  }

  /** Work under way that fills the device, in distances times components. */
  private double full() {
    return FULL_MULTIPROCESSOR * Math.max(1, executor.device().multiprocessors());
  }

  /** How busy it was since this was last asked, as {@link UnderWay#takeBusy}. */
  double takeBusy(double seconds) {
    return underWay.takeBusy(full(), seconds);
  }

  /** Items so far. */
  long items() {
    return items.sum();
  }
}
