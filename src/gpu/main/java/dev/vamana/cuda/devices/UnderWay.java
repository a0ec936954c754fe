package dev.vamana.cuda.devices;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.function.LongSupplier;

/** The work that a {@link Member} has under way, and how busy it was with it. Thread-safe. */
final class UnderWay {

  private final LongSupplier nanoTime;
  private final AtomicLong work = new AtomicLong();
  private final AtomicLong seen;
  private final DoubleAdder busyNanos = new DoubleAdder();

  /**
   * Without work.
   *
   * @param nanoTime the time, {@link System#nanoTime}
   */
  UnderWay(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    seen = new AtomicLong(nanoTime.getAsLong());
  }

  /** Work of the calls under way, in distances times components. */
  long work() {
    return work.get();
  }

  /**
   * Counts a call in, or out if its work is negative.
   *
   * @param full work that fills the device
   */
  void add(long more, double full) {
    tick(full);
    work.addAndGet(more);
  }

  /**
   * Returns how busy the device was since this was last asked: the mean of the work under way in
   * parts of what fills the device, where more than that counts as 1. So a device that is idle
   * between short bursts is not busy, however large the bursts. One thread asks.
   *
   * @param full work that fills the device
   * @param seconds since this was last asked, above 0
   * @return 0 to about 1
   */
  double takeBusy(double full, double seconds) {
    tick(full);
    return busyNanos.sumThenReset() * 1e-9 / seconds;
  }

  /**
   * Counts the time since work was last added. Each span of time is counted by one thread; a call
   * that begins or ends at that moment may be counted in it or not.
   */
  private void tick(double full) {
    long now = nanoTime.getAsLong();
    long before = seen.getAndSet(now);
    busyNanos.add(Math.min(1, work.get() / full) * (now - before));
  }
}
