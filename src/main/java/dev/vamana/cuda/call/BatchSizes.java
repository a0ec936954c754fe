package dev.vamana.cuda.call;

import dev.vamana.search.WorkItem;
import java.util.List;

/**
 * Counts the items of one call that can be searched together, for the cost model's predictions.
 * {@link CallPlanner} makes one per call; {@link PlanLoad} adds the items of concurrent calls.
 */
final class BatchSizes {

  /** A power of two. */
  private static final int LEAST_SLOTS = 128;

  private final int items;
  private final int threads;
  private final int walking;
  private final int onCpu;
  private final int processors;
  // open addressing by segment and accepted ordinals; null for a call of one item
  private WorkItem.Terms[] kinds;
  private int[] counts;
  private int segments;

  /**
   * Counts the items of a call.
   *
   * @param threads number of threads with which the CPU answers a call
   * @param load items of concurrent calls
   */
  @SuppressWarnings("ReferenceEquality") // items that differ only in their query share their terms
  BatchSizes(List<WorkItem> batch, int threads, PlanLoad load) {
    this.items = batch.size();
    this.threads = threads;
    this.walking = load.walking.get();
    this.onCpu = load.onCpu.intValue();
    this.processors = load.processors;
    if (items == 1) {
      segments = 1;
      return;
    }
    kinds = new WorkItem.Terms[LEAST_SLOTS];
    counts = new int[LEAST_SLOTS];
    WorkItem.Terms last = null;
    int slot = 0;
    for (int i = 0; i < items; i++) {
      WorkItem.Terms terms = batch.get(i).terms();
      if (terms != last) {
        slot = slot(terms);
        if (kinds[slot] == null) {
          slot = add(terms);
        }
        last = terms;
      }
      counts[slot]++;
    }
  }

  /** Returns the slot of items over a segment with a filter, or the free slot for them. */
  @SuppressWarnings("ReferenceEquality") // the same bitset object, not an equal one
  private int slot(WorkItem.Terms terms) {
    int hash =
        31 * System.identityHashCode(terms.segment())
            + System.identityHashCode(terms.acceptedOrdinals());
    int at = (hash ^ (hash >>> 16)) & (kinds.length - 1);
    while (kinds[at] != null
        && (kinds[at].segment() != terms.segment()
            || kinds[at].acceptedOrdinals() != terms.acceptedOrdinals())) {
      at = (at + 1) & (kinds.length - 1);
    }
    return at;
  }

  private int add(WorkItem.Terms terms) {
    segments++;
    if (2 * segments > kinds.length) {
      WorkItem.Terms[] oldKinds = kinds;
      int[] oldCounts = counts;
      kinds = new WorkItem.Terms[2 * oldKinds.length];
      counts = new int[kinds.length];
      for (int i = 0; i < oldKinds.length; i++) {
        if (oldKinds[i] != null) {
          int slot = slot(oldKinds[i]);
          kinds[slot] = oldKinds[i];
          counts[slot] = oldCounts[i];
        }
      }
    }
    int slot = slot(terms);
    kinds[slot] = terms;
    return slot;
  }

  /** Returns how many items of the call have the same segment and the same accepted ordinals. */
  int together(WorkItem item) {
    return kinds == null ? 1 : counts[slot(item.terms())];
  }

  /** Returns how many segments the items search, counted once more for each filter. */
  int segments() {
    return segments;
  }

  /**
   * Returns how many items would walk on the device at the same time, concurrent calls included.
   */
  int walking() {
    return items + Math.max(0, walking);
  }

  /**
   * Returns how many items one CPU thread answers one after the other if the CPU answers {@code
   * count} items of this call and nothing else.
   */
  double ownRounds(int count) {
    return Math.ceil(count / (double) Math.min(threads, count));
  }

  /**
   * Returns how many items one CPU thread answers one after the other if the CPU answers {@code
   * count} items of this call.
   */
  double cpuRounds(int count) {
    double shared = (count + onCpu) / (double) processors;
    return Math.max(ownRounds(count), shared);
  }
}
