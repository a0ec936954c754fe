package dev.vamana.cuda.call;

import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.util.Bits;

/**
 * Counts the items of one call that can be searched together, for the cost model's predictions.
 * {@link CallPlanner} makes one per call; {@link PlanLoad} adds the items of concurrent calls.
 */
final class BatchSizes {

  private final int items;
  private final int threads;
  private final int inTurn;
  private final int walking;
  private final int onCpu;
  private final int processors;
  // null for a call of one item, which is the common case
  private final Map<Key, int[]> together;

  /** Segment and accepted ordinals, compared by identity. */
  private record Key(SegmentView segment, Bits accepted) {
    @Override
    @SuppressWarnings("ReferenceEquality")
    public boolean equals(Object other) {
      return other instanceof Key key && key.segment == segment && key.accepted == accepted;
    }

    @Override
    public int hashCode() {
      return 31 * System.identityHashCode(segment) + System.identityHashCode(accepted);
    }
  }

  /**
   * Counts the items of a call.
   *
   * @param threads number of threads with which the CPU answers a call
   * @param inTurn items that one thread would answer one after the other at least
   * @param load items of concurrent calls
   */
  @SuppressWarnings("ReferenceEquality") // items that differ only in their query share their terms
  BatchSizes(List<WorkItem> batch, int threads, int inTurn, PlanLoad load) {
    this.items = batch.size();
    this.threads = threads;
    this.inTurn = inTurn;
    this.walking = load.walking.get();
    this.onCpu = load.onCpu.intValue();
    this.processors = load.processors;
    this.together = items == 1 ? null : new HashMap<>();
    WorkItem.Terms last = null;
    int[] count = null;
    for (int i = 0; together != null && i < items; i++) {
      WorkItem.Terms terms = batch.get(i).terms();
      if (terms != last) {
        count =
            together.computeIfAbsent(
                new Key(terms.segment(), terms.acceptedOrdinals()), unseen -> new int[1]);
        last = terms;
      }
      count[0]++;
    }
  }

  /** Returns how many items of the call have the same segment and the same accepted ordinals. */
  int together(WorkItem item) {
    return together == null ? 1 : together.get(new Key(item.segment(), item.acceptedOrdinals()))[0];
  }

  /** Returns how many segments the items search, counted once more for each filter. */
  int segments() {
    return together == null ? 1 : together.size();
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
    return Math.max(Math.max(ownRounds(count), inTurn), shared);
  }
}
