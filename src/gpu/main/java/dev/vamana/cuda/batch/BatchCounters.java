package dev.vamana.cuda.batch;

import dev.vamana.cuda.count.Counters;
import java.util.SortedMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what the walk lanes of an executor have done, over all contexts. Counters only grow.
 * Thread-safe. {@code session.ExecutorCounters} has the one instance, beside the counters of other
 * work.
 */
public final class BatchCounters {

  private final Counters totals = new Counters();
  private final LongAdder launches = totals.add("launches");
  private final LongAdder items = totals.add("items");
  private final LongAdder chunks = totals.add("requests");
  private final LongAdder failedLaunches = totals.add("failed_launches");
  private final LongAdder abandoned = totals.add("abandoned_requests");
  private final LongAdder bitCopies = totals.add("copied_bitsets");
  private final LongAdder visited = totals.add("distances");
  private final LongAdder iterations = totals.add("steps");
  private final LongAdder waitMicros = totals.add("wait_micros");

  void launched(int chunkCount, int itemCount) {
    launches.increment();
    chunks.add(chunkCount);
    items.add(itemCount);
  }

  void waited(long nanos) {
    waitMicros.add(nanos / 1000);
  }

  void launchFailed() {
    failedLaunches.increment();
  }

  void bitsCopied() {
    bitCopies.increment();
  }

  void abandoned() {
    abandoned.increment();
  }

  /** Counts the distances and steps of an item, whatever lane answered it. */
  public void walked(long distances, long steps) {
    visited.add(distances);
    iterations.add(steps);
  }

  /** Returns all counters by name. */
  public SortedMap<String, Long> totals() {
    return totals.sums();
  }
}
