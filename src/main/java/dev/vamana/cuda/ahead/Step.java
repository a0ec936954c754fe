package dev.vamana.cuda.ahead;

import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.util.function.BooleanSupplier;

/**
 * What a query asks of one segment. Instances are equal if they ask the same of the same open
 * segment.
 */
record Step(SegmentView segment, int k, WalkParameters walk) {

  private static final int[] NO_ENTRY_POINTS = new int[0];

  /**
   * Whether an item asks nothing else: it accepts all vectors of its segment, begins where walks
   * begin, and no limit can end it.
   */
  static boolean covers(WorkItem item) {
    return item.acceptedOrdinals() == null
        && item.entryPoints().length == 0
        && item.visitLimit() >= item.segment().size();
  }

  static Step of(WorkItem item) {
    return new Step(item.segment(), item.k(), item.walk());
  }

  /** The same for another query. */
  WorkItem item(QueryVector query, BooleanSupplier cancelled) {
    return new WorkItem(
        segment, query, k, walk, null, segment.size(), Long.MAX_VALUE, cancelled, NO_ENTRY_POINTS);
  }
}
