package dev.vamana.cuda.ahead;

import dev.vamana.search.AcceptedOrdinals;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * A query's search of one segment. Two steps are equal if they search the same open segment with
 * the same parameters.
 *
 * @param live live documents as accepted ordinals, which queries without a filter share; null for
 *     all vectors
 */
record Step(
    SegmentView segment, int k, WalkParameters walk, Reference<AcceptedOrdinals.Copy> live) {

  private static final int[] NO_ENTRY_POINTS = new int[0];

  /**
   * Returns the step of an item.
   *
   * @return null if the item cannot repeat in other queries: it has a filter or entry points, or
   *     its visit limit might end it
   */
  static Step of(WorkItem item) {
    if (item.entryPoints().length > 0 || item.visitLimit() < item.segment().size()) {
      return null;
    }
    if (item.acceptedOrdinals() == null) {
      return new Step(item.segment(), item.k(), item.walk(), null);
    }
    AcceptedOrdinals.Copy live = item.segment().acceptedOrdinals().shared(item.acceptedOrdinals());
    return live == null ? null : new Step(item.segment(), item.k(), item.walk(), live.reference());
  }

  // segments are compared by identity; walks and live documents of a segment's steps hardly differ
  @Override
  public int hashCode() {
    return 31 * segment.hashCode() + k;
  }

  // the record's own asks for each component by a method handle
  @Override
  public boolean equals(Object other) {
    return other instanceof Step step
        && step.segment.equals(segment)
        && step.k == k
        && Objects.equals(step.live, live)
        && step.walk.equals(walk);
  }

  /**
   * Makes the item of this step for another query. Returns null if the live documents have changed
   * since.
   */
  WorkItem item(QueryVector query, BooleanSupplier cancelled) {
    AcceptedOrdinals.Copy accepted = live == null ? null : live.get();
    if (live != null && accepted == null) {
      return null;
    }
    return new WorkItem(
        segment,
        query,
        k,
        walk,
        accepted == null ? null : accepted.bits(),
        accepted == null ? segment.size() : accepted.count(),
        Long.MAX_VALUE,
        cancelled,
        NO_ENTRY_POINTS);
  }
}
