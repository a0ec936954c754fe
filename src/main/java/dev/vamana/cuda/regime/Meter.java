package dev.vamana.cuda.regime;

import java.util.concurrent.atomic.LongAdder;

/** Sums of what was answered. Threads add without waiting for each other. */
final class Meter {

  private final LongAdder count = new LongAdder();
  private final LongAdder work = new LongAdder();
  private final LongAdder favoured = new LongAdder();
  private final LongAdder latency = new LongAdder();
  private final OwnTimes own = new OwnTimes();

  void add(int items, long nanos, long favouredNanos, long waited) {
    count.add(items);
    work.add(nanos);
    if (favouredNanos > 0) {
      favoured.add(favouredNanos);
    }
    latency.add(waited);
  }

  /** Returns what threads answer by themselves. */
  OwnTimes own() {
    return own;
  }

  /** Returns the sums until a moment. */
  Window until(long now) {
    Window ofThreads = own.until(now);
    return new Window(
        now,
        count.sum() + ofThreads.count(),
        work.sum() + ofThreads.work(),
        favoured.sum() + ofThreads.favoured(),
        latency.sum() + ofThreads.latency());
  }
}
