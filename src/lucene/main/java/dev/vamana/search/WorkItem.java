package dev.vamana.search;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.Bits;

/**
 * One query over one segment.
 *
 * @param terms everything but the query; the same object for the items of a call that differ only
 *     in their query
 * @param query the query's vector, of the segment's encoding and dimension
 */
public record WorkItem(Terms terms, QueryVector query) {

  /**
   * Common terms of items that differ only in their query. Items of equal terms can be planned
   * alike; they may be cancelled by different suppliers and start from different entry points.
   *
   * @param segment the segment to search
   * @param k most hits, at least 1
   * @param walk parameters of a walk
   * @param acceptedOrdinals ordinals that may be hits, readable by any thread, or null for all
   * @param acceptedCount estimated number of accepted ordinals
   * @param visitLimit most distances to compute; a search that reaches it ends incomplete
   * @param cancelled asked from time to time, by one thread at a time, while the caller waits; true
   *     ends the search incomplete
   * @param entryPoints ordinals from which the walk starts in addition to the medoid; may be empty
   * @param strategy how the segment's own format searches, {@link SegmentView#formatSearch}; null
   *     for its default
   */
  public record Terms(
      SegmentView segment,
      int k,
      WalkParameters walk,
      Bits acceptedOrdinals,
      int acceptedCount,
      long visitLimit,
      BooleanSupplier cancelled,
      int[] entryPoints,
      KnnSearchStrategy strategy) {

    public Terms {
      if (k < 1) {
        throw new IllegalArgumentException("k must be at least 1, got " + k);
      }
    }

    /** Makes terms with the default strategy. */
    public Terms(
        SegmentView segment,
        int k,
        WalkParameters walk,
        Bits acceptedOrdinals,
        int acceptedCount,
        long visitLimit,
        BooleanSupplier cancelled,
        int[] entryPoints) {
      this(
          segment,
          k,
          walk,
          acceptedOrdinals,
          acceptedCount,
          visitLimit,
          cancelled,
          entryPoints,
          null);
    }

    /**
     * Whether other terms ask the same, whoever waits; entry points count only by number, and
     * strategies not at all.
     */
    @Override
    @SuppressWarnings("ReferenceEquality") // the same bitset object, not an equal one
    public boolean equals(Object other) {
      return other instanceof Terms terms
          && terms.segment == segment
          && terms.k == k
          && terms.acceptedOrdinals == acceptedOrdinals
          && terms.acceptedCount == acceptedCount
          && terms.visitLimit == visitLimit
          && terms.entryPoints.length == entryPoints.length
          && terms.walk.equals(walk);
    }

    @Override
    public int hashCode() {
      return 31 * System.identityHashCode(segment) + System.identityHashCode(acceptedOrdinals);
    }

    /** Returns these terms with another cancellation. */
    public Terms withCancelled(BooleanSupplier other) {
      return new Terms(
          segment,
          k,
          walk,
          acceptedOrdinals,
          acceptedCount,
          visitLimit,
          other,
          entryPoints,
          strategy);
    }

    private Terms askedOneAtATime(Object lock) {
      return withCancelled(
          () -> {
            synchronized (lock) {
              return cancelled.getAsBoolean();
            }
          });
    }
  }

  /**
   * Returns items whose cancellation is asked by one thread at a time, for a call that several
   * threads answer in parts.
   *
   * @param lock held while a cancellation is asked; the same for all parts
   */
  @SuppressWarnings("ReferenceEquality") // items that differ only in their query share their terms
  public static List<WorkItem> askedOneAtATime(List<WorkItem> items, Object lock) {
    List<WorkItem> guarded = new ArrayList<>(items.size());
    Terms last = null;
    Terms own = null;
    for (WorkItem item : items) {
      if (item.terms() != last) {
        last = item.terms();
        own = last.askedOneAtATime(lock);
      }
      guarded.add(new WorkItem(own, item.query()));
    }
    return guarded;
  }

  /**
   * Number of standard deviations by which the accepted nodes in a worklist may fall short of their
   * expected number.
   */
  private static final double DEVIATIONS = 4;

  // of the expected number of distances
  private static final double OUT_OF_REACH = 2;
  private static final int ALWAYS_WITHIN_REACH = 1_024;

  public WorkItem {
    SegmentView segment = terms.segment;
    if (query.encoding() != segment.encoding()) {
      throw new IllegalArgumentException(
          segment.name()
              + " holds "
              + segment.encoding()
              + " vectors, the query is "
              + query.encoding());
    }
    if (query.dimension() != segment.dimension()) {
      throw new IllegalArgumentException(
          segment.name()
              + " has dimension "
              + segment.dimension()
              + ", the query has "
              + query.dimension());
    }
  }

  /** Makes an item with terms of its own, as of {@link Terms}. */
  public WorkItem(
      SegmentView segment,
      QueryVector query,
      int k,
      WalkParameters walk,
      Bits acceptedOrdinals,
      int acceptedCount,
      long visitLimit,
      BooleanSupplier cancelled,
      int[] entryPoints) {
    this(
        new Terms(
            segment, k, walk, acceptedOrdinals, acceptedCount, visitLimit, cancelled, entryPoints),
        query);
  }

  /** As {@link Terms#segment}. */
  public SegmentView segment() {
    return terms.segment;
  }

  /** As {@link Terms#k}. */
  public int k() {
    return terms.k;
  }

  /** As {@link Terms#walk}. */
  public WalkParameters walk() {
    return terms.walk;
  }

  /** As {@link Terms#acceptedOrdinals}. */
  public Bits acceptedOrdinals() {
    return terms.acceptedOrdinals;
  }

  /** As {@link Terms#acceptedCount}. */
  public int acceptedCount() {
    return terms.acceptedCount;
  }

  /** As {@link Terms#visitLimit}. */
  public long visitLimit() {
    return terms.visitLimit;
  }

  /** As {@link Terms#cancelled}. */
  public BooleanSupplier cancelled() {
    return terms.cancelled;
  }

  /** As {@link Terms#entryPoints}. */
  public int[] entryPoints() {
    return terms.entryPoints;
  }

  /**
   * Returns the capacity of the worklist: the beam, at least k, divided by the accepted share. It
   * is also so wide that the worklist very probably holds at least k accepted nodes; a walk with
   * fewer would have to be repeated as a scan. If a share s of t nodes is accepted at random, their
   * number has mean t s and standard deviation sqrt(t s (1 - s)).
   */
  public int effectiveBeamWidth() {
    double beam = Math.max(terms.walk.beamWidth(), terms.k);
    int accepted = Math.max(1, Math.min(terms.acceptedCount, terms.segment.size()));
    if (terms.acceptedOrdinals != null && accepted < terms.segment.size()) {
      double share = accepted / (double) terms.segment.size();
      double margin = DEVIATIONS * Math.sqrt(1 - share);
      double root = (margin + Math.sqrt(margin * margin + 4.0 * terms.k)) / 2;
      beam = Math.max(Math.floor(beam / share), Math.ceil(root * root / share));
    }
    return (int)
        Math.max(1, Math.min(beam, Math.min(terms.segment.size(), WalkParameters.MAX_BEAM_WIDTH)));
  }

  /**
   * Returns the visit limit for a walk that pays for counting exactly. Kernels do: they forget
   * nodes, which they then count again, unless they add one node after the other. A limit far
   * beyond the distances of such a walk, as Lucene's filtered queries have it in large segments, is
   * none.
   *
   * @return {@link #visitLimit}, or {@link Long#MAX_VALUE} if it is more than twice the expected
   *     number of distances and more than {@value #ALWAYS_WITHIN_REACH}
   */
  public long limitWithinReach() {
    double expected =
        SearchPlan.visits(terms.segment.size(), terms.segment.meanDegree(), effectiveBeamWidth());
    double most = Math.max(ALWAYS_WITHIN_REACH, OUT_OF_REACH * expected + terms.entryPoints.length);
    return terms.visitLimit > most ? Long.MAX_VALUE : terms.visitLimit;
  }

  /**
   * Returns the number of hits whose distances decide when a search of inverted lists ends: the
   * beam, at least k.
   */
  public int listWidth() {
    return Math.min(Math.max(terms.k, terms.walk.beamWidth()), terms.segment.size());
  }

  /** Returns this item, to be walked on codes. */
  WorkItem onCodes() {
    return new WorkItem(
        terms.segment,
        query,
        terms.k,
        terms.walk.withDistances(WalkParameters.Distances.QUANTIZED),
        terms.acceptedOrdinals,
        terms.acceptedCount,
        terms.visitLimit,
        terms.cancelled,
        terms.entryPoints);
  }

  /** Returns this item without a visit limit. */
  WorkItem withoutVisitLimit() {
    return new WorkItem(
        terms.segment,
        query,
        terms.k,
        terms.walk,
        terms.acceptedOrdinals,
        terms.acceptedCount,
        Long.MAX_VALUE,
        terms.cancelled,
        terms.entryPoints);
  }
}
