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
  private final int walking;
  private final int onCpu;
  private final int processors;
  private final Map<Rows, Integer> counts = new HashMap<>();

  /** Accepted vectors of a segment; the same bitset object, not an equal one. */
  private record Rows(SegmentView segment, Bits accepted) {

    static Rows of(WorkItem.Terms terms) {
      return new Rows(terms.segment(), terms.acceptedOrdinals());
    }

    @Override
    @SuppressWarnings("ReferenceEquality")
    public boolean equals(Object other) {
      return other instanceof Rows rows && rows.segment == segment && rows.accepted == accepted;
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
   * @param load items of concurrent calls
   */
  @SuppressWarnings("ReferenceEquality") // items that differ only in their query share their terms
  BatchSizes(List<WorkItem> batch, int threads, PlanLoad load) {
    this.items = batch.size();
    this.threads = threads;
    this.walking = load.walking.get();
    this.onCpu = load.onCpu.intValue();
    this.processors = load.processors;
    int from = 0;
    for (int i = 1; i <= items; i++) {
      if (i == items || batch.get(i).terms() != batch.get(from).terms()) {
        counts.merge(Rows.of(batch.get(from).terms()), i - from, Integer::sum);
        from = i;
      }
    }
  }

  /** Returns how many items of the call have the same segment and the same accepted ordinals. */
  int together(WorkItem item) {
    return counts.get(Rows.of(item.terms()));
  }

  /** Returns how many segments the items search, counted once more for each filter. */
  int segments() {
    return counts.size();
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
