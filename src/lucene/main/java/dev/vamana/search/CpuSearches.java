package dev.vamana.search;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the items that readers answered on the CPU without an executor, by reason. An item is one
 * query in one segment. Counters only grow. Thread-safe.
 */
public final class CpuSearches {

  /** Why the executor was not used, or its answer was not enough. */
  public enum Reason {
    /** No executor is installed. */
    NO_EXECUTOR,
    /** Scoring every accepted vector is faster. */
    SCAN,
    /** The segment has inverted lists, which the executor does not search now. */
    LISTS,
    /** The filter is by values that have graphs of their own, which the executor does not have. */
    LABELS,
    /** The collector does not collect the k best hits, or more of them than an executor keeps. */
    COLLECTOR,
    /**
     * The executor's hits were not enough for the collector, and the CPU walked again; or a visit
     * limit ended the executor's walk within a batch, and the CPU scanned.
     */
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

  /** Returns the number of items. */
  public long count(Reason reason) {
    return counts.get(reason).sum();
  }
}
