package dev.vamana.cuda;

import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.util.Bits;

/** How many items of a call, and of others at work, share what. */
final class BatchSizes {

  private final int items;
  private final int threads;
  private final int walking;
  private final int onCpu;
  // null for the common call of one item
  private final Map<Key, int[]> together;

  /** Segment and accepted ordinals, both the same rather than equal. */
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
   * @param threads that the CPU answers a call with
   */
  @SuppressWarnings("ReferenceEquality") // the same bitset, not one that happens to be equal
  BatchSizes(List<WorkItem> batch, int threads, PlanLoad load) {
    this.items = batch.size();
    this.threads = threads;
    this.walking = load.walking.get();
    this.onCpu = load.onCpu.get();
    this.together = items == 1 ? null : new HashMap<>();
    WorkItem last = null;
    int[] count = null;
    for (int i = 0; together != null && i < items; i++) {
      WorkItem item = batch.get(i);
      if (last == null
          || item.segment() != last.segment()
          || item.acceptedOrdinals() != last.acceptedOrdinals()) {
        count =
            together.computeIfAbsent(
                new Key(item.segment(), item.acceptedOrdinals()), unseen -> new int[1]);
        last = item;
      }
      count[0]++;
    }
  }

  /** Items of the call for the same ordinals of the same segment. */
  int together(WorkItem item) {
    return together == null ? 1 : together.get(new Key(item.segment(), item.acceptedOrdinals()))[0];
  }

  /** Items that would walk on the device at the same time. */
  int walking() {
    return items + Math.max(0, walking);
  }

  /** Items that a thread of the CPU answers one after the other, of so many. */
  double cpuRounds(int count) {
    double own = Math.ceil(count / (double) Math.min(threads, count));
    double shared = (count + onCpu) / (double) Runtime.getRuntime().availableProcessors();
    return Math.max(own, shared);
  }
}
