package dev.vamana.cuda.call;

import dev.vamana.search.AcceptedOrdinals;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.lang.ref.Reference;
import java.util.function.BooleanSupplier;
import org.apache.lucene.util.Bits;

/**
 * A single query's request to one segment, without its vector. Many queries make the same request,
 * so {@link Routes} remembers how it is answered, and {@code ahead.Ahead} which one follows it.
 *
 * @param live live documents as accepted ordinals, which queries without a filter share; null for
 *     all vectors
 * @param ofBytes {@link QueryVector#ofBytes}
 */
public record Request(
    SegmentView segment,
    int k,
    WalkParameters walk,
    Reference<AcceptedOrdinals.Copy> live,
    boolean ofBytes) {

  private static final int[] NO_ENTRY_POINTS = new int[0];

  /**
   * Returns the request of an item.
   *
   * @return null if the item cannot repeat in other queries: it has a filter or entry points, or a
   *     visit limit that may end it
   */
  public static Request of(WorkItem item) {
    if (plain(item) == false) {
      return null;
    }
    Reference<AcceptedOrdinals.Copy> live = null;
    if (item.acceptedOrdinals() != null) {
      AcceptedOrdinals.Copy shared =
          item.segment().acceptedOrdinals().shared(item.acceptedOrdinals());
      if (shared == null) {
        return null;
      }
      live = shared.reference();
    }
    return new Request(item.segment(), item.k(), item.walk(), live, item.query().ofBytes());
  }

  private static boolean plain(WorkItem item) {
    return item.entryPoints().length == 0 && item.visitLimit() >= Integer.MAX_VALUE;
  }

  /** Whether an item of this segment asks the same; makes no object. */
  @SuppressWarnings("ReferenceEquality") // most often the same walk; the same bits, not equal ones
  boolean matches(WorkItem item) {
    return item.k() == k
        && (item.walk() == walk || item.walk().equals(walk))
        && accepts(item.acceptedOrdinals())
        && item.query().ofBytes() == ofBytes
        && plain(item);
  }

  @SuppressWarnings("ReferenceEquality") // the same bits, not equal ones
  private boolean accepts(Bits accepted) {
    AcceptedOrdinals.Copy own = live == null ? null : live.get();
    return accepted == null ? live == null : own != null && own.bits() == accepted;
  }

  // the record's own ask for each component by a method handle
  @Override
  public int hashCode() {
    return 31 * segment.hashCode() + k;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // a copy has one reference
  public boolean equals(Object other) {
    return other instanceof Request request
        && request.segment.equals(segment)
        && request.k == k
        && request.live == live
        && request.ofBytes == ofBytes
        && request.walk.equals(walk);
  }

  /**
   * Makes the item of this request for another query. Returns null if the live documents have
   * changed since.
   */
  public WorkItem item(QueryVector query, BooleanSupplier cancelled) {
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
