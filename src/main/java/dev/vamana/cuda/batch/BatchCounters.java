package dev.vamana.cuda.batch;

import dev.vamana.cuda.count.Counters;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * Counts what the walk lanes of an executor have done, over all contexts. Counters only grow.
 * Thread-safe. {@code session.ExecutorCounters} has the one instance, beside the counters of other
 * work.
 */
public final class BatchCounters {

  private static final int BUCKETS = 18;

  private final Counters totals = new Counters();
  private final LongAdder launches = totals.add("launches");
  private final LongAdder items = totals.add("items");
  private final LongAdder listsTogether = totals.add("lists_together");
  private final LongAdder chunks = totals.add("requests");
  private final LongAdder failedLaunches = totals.add("failed_launches");
  private final LongAdder abandoned = totals.add("abandoned_requests");
  private final LongAdder bitCopies = totals.add("copied_bitsets");
  private final LongAdder visited = totals.add("distances");
  private final LongAdder iterations = totals.add("steps");
  private final LongAdder processorsScarce = totals.add("processors_scarce");
  private final LongAdder waitMicros = totals.add("wait_micros");
  private final LongAdder[] batchSizes = adders();
  private final LongAdder[] waits = adders();

  private static LongAdder[] adders() {
    LongAdder[] adders = new LongAdder[BUCKETS];
    Arrays.setAll(adders, i -> new LongAdder());
    return adders;
  }

  void launched(int chunkCount, int itemCount) {
    launches.increment();
    chunks.add(chunkCount);
    items.add(itemCount);
    batchSizes[bucket(itemCount)].increment();
  }

  /** Counts a launch whose items search inverted lists together. */
  void listsTogether() {
    listsTogether.increment();
  }

  void waited(long nanos) {
    long micros = nanos / 1000;
    waitMicros.add(micros);
    waits[bucket(micros)].increment();
  }

  void launchFailed() {
    failedLaunches.increment();
  }

  /** Counts that a thread which spins while it waits for the device was kept from its processor. */
  public void processorsScarce() {
    processorsScarce.increment();
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

  private static int bucket(long value) {
    return Math.min(BUCKETS - 1, 64 - Long.numberOfLeadingZeros(Math.max(0, value)));
  }

  /** Returns the number of launches. */
  public long launches() {
    return launches.sum();
  }

  /** Returns the number of items launched. */
  public long items() {
    return items.sum();
  }

  /** Returns all counters by name. */
  public SortedMap<String, Long> totals() {
    return totals.sums();
  }

  /** Launches by number of items: {@code up_to_1}, {@code up_to_3}, {@code up_to_7}, ... */
  public SortedMap<String, Long> batchSizes() {
    return histogram(batchSizes);
  }

  /** Requests by microseconds from submission to launch, in buckets as of {@link #batchSizes}. */
  public SortedMap<String, Long> waits() {
    return histogram(waits);
  }

  /** The largest values of all buckets but the last, which has no limit. */
  public static List<Long> bounds() {
    return IntStream.range(0, BUCKETS - 1).mapToObj(BatchCounters::most).toList();
  }

  private static long most(int bucket) {
    return (1L << bucket) - 1;
  }

  private static SortedMap<String, Long> histogram(LongAdder[] buckets) {
    SortedMap<String, Long> named = new TreeMap<>();
    for (int i = 0; i < buckets.length; i++) {
      long count = buckets[i].sum();
      if (count > 0) {
        named.put(i == buckets.length - 1 ? "more" : "up_to_" + most(i), count);
      }
    }
    return named;
  }
}
