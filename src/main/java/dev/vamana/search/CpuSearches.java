package dev.vamana.search;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the items that readers answered on the CPU without an executor's help, by reason. An item
 * is one query in one segment. Every number only grows. Thread-safe.
 */
public final class CpuSearches {

  /** Why no executor was asked, or not asked alone. */
  public enum Reason {
    /** None is installed. */
    NO_EXECUTOR,
    /** Scoring every accepted vector is the better plan. */
    SCAN,
    /** The collector does not want the k best hits, or more than an executor keeps. */
    COLLECTOR,
    /** The executor's hits were not what the collector wants, and the CPU walked once more. */
    REPEATED
  }

  private final Map<Reason, LongAdder> counts = new EnumMap<>(Reason.class);

  CpuSearches() {
    for (Reason reason : Reason.values()) {
      counts.put(reason, new LongAdder());
    }
  }

  void add(Reason reason, int items) {
    counts.get(reason).add(items);
  }

  /** Items so far. */
  public long count(Reason reason) {
    return counts.get(reason).sum();
  }
}
