package dev.vamana.search;

import dev.vamana.graph.Adjacency;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.BitSet;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.hnsw.OrdinalTranslatedKnnCollector;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Answers Lucene's search of one segment: hands it to the executor, or scans, walks or searches
 * lists with the collector. {@code VamanaVectorsReader} makes one for each search.
 *
 * <p>The collector drives the search unless an executor takes it or the query has its own walk
 * parameters. An executor returns the k best hits, which are then collected. Two kinds of
 * collectors need other hits than the k best: collectors without a k of their own (thresholds,
 * which report k = 1), and collectors that keep one hit per parent. The first kind has a
 * competitive score before its first hit and is walked here. The second kind is recognized because
 * it is not full after k hits, and is then walked here.
 */
public final class SegmentSearch {

  private static final int[] NO_ENTRY_POINTS = new int[0];

  private final SegmentView segment;
  private final QueryVector query;
  private final KnnCollector collector;
  private final SearchExecutor executor = ExecutorRegistry.current();
  // opening a scorer takes longer than handing an item over, so it is opened when it is needed
  private RandomVectorScorer scorer;
  private final KnnCollector ordinals;
  private final Bits acceptedDocs;
  private final Bits acceptedOrdinals;
  private final int accepted;
  private final WalkParameters own;
  private final WalkParameters walk;
  private final int beam;
  private final boolean scan;
  // a collector ranks by scores, so it cannot steer a search if scores are too coarse
  private final boolean coarse;
  // the graphs of values that have accepted vectors, or null if they are not searched
  private final LabelGraphs.Plan labels;
  // searches with the collector; null for segments that this class searches
  private final FormatSearch format;
  // entry points that were read for an item; null if there are none
  private int[] seeds;

  private SegmentSearch(
      SegmentView segment,
      QueryVector query,
      KnnCollector collector,
      AcceptDocs acceptDocs,
      FormatSearch format)
      throws IOException {
    this.segment = segment;
    this.format = format;
    this.query = query;
    this.collector = collector;
    RandomVectorScorer opened = segment.isDense() ? null : segment.scorer(query);
    this.scorer = opened;
    this.ordinals =
        new OrdinalTranslatedKnnCollector(
            collector, opened == null ? ordinal -> ordinal : opened::ordToDoc);
    this.acceptedDocs = acceptDocs.bits();
    this.acceptedOrdinals = opened == null ? acceptedDocs : opened.getAcceptOrds(acceptedDocs);
    this.accepted = accepted(segment, acceptDocs, acceptedDocs, acceptedOrdinals);
    WalkParameters ofQuery = walkParameters(collector.getSearchStrategy());
    WalkParameters standard =
        executor == null
            ? WalkParameters.defaults(collector.k())
            : executor.defaultWalk(collector.k());
    WalkChange change = segment.walkChange();
    this.own = ofQuery == null && change.isNone() == false ? change.applyTo(standard) : ofQuery;
    this.walk = own == null ? standard : own;
    this.beam = Math.max(collector.k(), walk.beamWidth());
    this.scan =
        segment.hasLists() == false
            && (executor == null
                ? SearchPlan.scan(segment, beam, accepted)
                : SearchPlan.scanBesideExecutor(segment, beam, accepted));
    this.coarse = segment.rawComparison() != null;
    this.labels =
        segment.labels() == null || coarse
            ? null
            : segment
                .labels()
                .plan(
                    segment, acceptedDocs, beam, SearchPlan.mostOfLabels(segment, beam, accepted));
  }

  /**
   * Searches a segment on the calling thread. No other thread uses the collector or the accepted
   * documents.
   *
   * @param collector receives documents of the segment with exact scores
   * @param acceptDocs documents that may be collected
   */
  public static void search(
      SegmentView segment, QueryVector query, KnnCollector collector, AcceptDocs acceptDocs)
      throws IOException {
    if (segment.size() > 0 && collector.k() > 0) {
      new SegmentSearch(segment, query, collector, acceptDocs, null).run();
    }
  }

  /** The search of a segment by its own format, with the query's collector. */
  @FunctionalInterface
  public interface FormatSearch {
    /** Searches the segment with the query's collector, or another with the same hits. */
    void run(KnnCollector collector) throws IOException;
  }

  /**
   * As the other one, for a segment whose format is not this project's. The executor answers if it
   * takes the search, and otherwise the format.
   */
  public static void search(
      SegmentView segment,
      QueryVector query,
      KnnCollector collector,
      AcceptDocs acceptDocs,
      FormatSearch format)
      throws IOException {
    if (collector.k() > 0) {
      new SegmentSearch(segment, query, collector, acceptDocs, format).run();
    }
  }

  private void run() throws IOException {
    if (labels != null) {
      count(CpuSearches.Reason.LABELS);
      searchHere();
      return;
    }
    boolean bestHits = wantsBestHits() && collector.k() <= WalkParameters.MAX_BEAM_WIDTH;
    if (bestHits == false) {
      count(scan ? CpuSearches.Reason.SCAN : CpuSearches.Reason.COLLECTOR);
      searchHere();
    } else if (executor == null) {
      count(CpuSearches.Reason.NO_EXECUTOR);
      searchAlone(own != null && scan == false);
    } else {
      SearchExecutor.LeftSearch left = executor.leaves(segment, collector.k(), accepted, scan);
      if (left == null) {
        if (replay(executor.answer(item())) == false) {
          count(CpuSearches.Reason.REPEATED);
          searchHere();
        }
        return;
      }
      try {
        if (format == null) {
          count(scan ? CpuSearches.Reason.SCAN : CpuSearches.Reason.LISTS);
        }
        searchAlone(false);
      } finally {
        left.ended();
      }
    }
  }

  /**
   * Finds the k best hits on the calling thread.
   *
   * @param asItem whether the search is a work item's rather than the collector's
   */
  private void searchAlone(boolean asItem) throws IOException {
    boolean item = (asItem || coarse) && segment.hasLists() == false && format == null;
    if (item == false || replay(CpuExecutor.search(item())) == false) {
      searchHere();
    }
  }

  private WorkItem item() throws IOException {
    AcceptedOrdinals.Copy copy =
        segment.acceptedOrdinals().of(acceptedDocs, acceptedOrdinals, segment.size());
    int[] entryPoints = entryPoints(collector.getSearchStrategy(), segment.size());
    seeds = entryPoints.length == 0 ? null : entryPoints;
    return new WorkItem(
        new WorkItem.Terms(
            segment,
            collector.k(),
            walk,
            copy == null ? null : copy.bits(),
            copy == null ? segment.size() : copy.count(),
            collector.visitLimit() - collector.visitedCount(),
            collector::earlyTerminated,
            entryPoints,
            collector.getSearchStrategy()),
        query);
  }

  /** Searches with the collector. */
  private void searchHere() throws IOException {
    if (format != null) {
      format.run(seeds == null ? collector : seeded());
      return;
    }
    if (scorer == null) {
      scorer = segment.scorer(query);
    }
    if (labels != null) {
      walkLabels();
    } else if (segment.hasLists()) {
      new ListSearch(segment.lists(), query, scorer, ordinals, beam)
          .run(acceptedOrdinals, accepted);
    } else if (scan) {
      ListSearch.scan(segment, query, scorer, ordinals, beam, acceptedOrdinals, accepted);
    } else {
      walkHere();
    }
  }

  /** Returns the collector with the entry points that its strategy has no more. */
  private KnnCollector seeded() {
    KnnSearchStrategy first =
        ((KnnSearchStrategy.Seeded) collector.getSearchStrategy()).originalStrategy();
    KnnSearchStrategy again =
        new KnnSearchStrategy.Seeded(new EntryPoints(seeds), seeds.length, first);
    return new KnnCollector.Decorator(collector) {
      @Override
      public KnnSearchStrategy getSearchStrategy() {
        return again;
      }
    };
  }

  private void walkHere() throws IOException {
    int[] entryPoints = entryPoints(collector.getSearchStrategy(), segment.size());
    int[] starts = new int[entryPoints.length + 1];
    starts[0] = segment.medoid();
    System.arraycopy(entryPoints, 0, starts, 1, entryPoints.length);
    CollectorWalk steered = walk(segment.adjacency());
    long patience =
        acceptedOrdinals == null
            ? CollectorWalk.TO_THE_END
            : SearchPlan.patience(segment, beam, accepted);
    complete(steered, steered.run(starts, patience));
  }

  private CollectorWalk walk(Adjacency graph) throws IOException {
    return new CollectorWalk(
        scorer,
        coarse || query.floats() == null ? null : segment.distanceFilter(query.floats()),
        graph,
        ordinals,
        acceptedOrdinals,
        beam);
  }

  /** Walks the graphs of some values one after the other, with one collector. */
  private void walkLabels() throws IOException {
    LabelGraphs graphs = segment.labels();
    CollectorWalk steered = walk(graphs.adjacency());
    steered.next(beam);
    steered.collect(labels.alone());
    for (int i = 0; i < labels.graphs().length; i++) {
      steered.next(LabelGraphs.beam(i, beam));
      steered.run(new int[] {graphs.entryPoint(labels.graphs()[i])}, CollectorWalk.TO_THE_END);
    }
    complete(steered, true);
  }

  /**
   * Finds what a walk may have missed.
   *
   * @param ended whether it has ended, rather than been given up
   */
  private void complete(CollectorWalk steered, boolean ended) throws IOException {
    float worst = ordinals.minCompetitiveSimilarity();
    boolean full = worst != Float.NEGATIVE_INFINITY;
    if (ended == false || (full == false && ordinals.earlyTerminated() == false)) {
      scanRest(steered);
      return;
    }
    if (full
        && worst < SearchPlan.unreliableBelow(segment)
        && ordinals.earlyTerminated() == false) {
      new ExactScan(scorer, ordinals).run(steered.unscored());
    }
  }

  /**
   * Returns about how many vectors are accepted. The cost of live documents, unlike that of a
   * filter, counts the deleted ones too.
   */
  private static int accepted(SegmentView segment, AcceptDocs accepted, Bits docs, Bits ordinals)
      throws IOException {
    int most = Math.min(accepted.cost(), segment.size());
    return docs == null || docs instanceof BitSet
        ? most
        : Math.min(most, segment.acceptedOrdinals().estimate(docs, ordinals, segment.size()));
  }

  /**
   * Scans the rest after a walk that was given up or has missed hits. Lucene's queries limit the
   * number of distances of a filtered search to the number of accepted vectors, and score all of
   * them if the limit is reached: if it would be, the search ends at once.
   */
  private void scanRest(CollectorWalk steered) throws IOException {
    long left = ordinals.visitLimit() - ordinals.visitedCount();
    if (left < accepted) {
      ordinals.incVisitedCount((int) Math.max(0, left));
    } else {
      new ExactScan(scorer, ordinals).run(steered.unscored());
    }
  }

  /** Counts an item answered by the CPU. Without an executor, the reason is that there is none. */
  private void count(CpuSearches.Reason reason) {
    ExecutorRegistry.cpuSearches()
        .add(executor == null ? CpuSearches.Reason.NO_EXECUTOR : reason, 1);
  }

  /**
   * Whether the collector collects the best hits. A collector of all hits above a score reports k =
   * 1, but has a competitive score before its first hit.
   */
  private boolean wantsBestHits() {
    return collector.k() > 1 || collector.minCompetitiveSimilarity() == Float.NEGATIVE_INFINITY;
  }

  /** Collects the result. Returns false if the collector needs hits other than the k best. */
  private boolean replay(WorkResult result) {
    ordinals.incVisitedCount((int) Math.min(Integer.MAX_VALUE, result.visited()));
    int[] found = result.ordinals();
    for (int i = 0; i < found.length; i++) {
      ordinals.collect(found[i], result.scores()[i]);
    }
    // not ">": damaged vectors have NaN scores, and their hits would be collected twice
    boolean full = ordinals.minCompetitiveSimilarity() != Float.NEGATIVE_INFINITY;
    return full || found.length < ordinals.k() || ordinals.earlyTerminated();
  }

  private static WalkParameters walkParameters(KnnSearchStrategy strategy) {
    if (strategy instanceof KnnSearchStrategy.Seeded seeded) {
      return walkParameters(seeded.originalStrategy());
    }
    return strategy instanceof VamanaSearchStrategy own ? own.walk() : null;
  }

  private static int[] entryPoints(KnnSearchStrategy strategy, int size) throws IOException {
    if (strategy instanceof KnnSearchStrategy.Seeded seeded && seeded.numberOfEntryPoints() > 0) {
      int[] entryPoints = new int[seeded.numberOfEntryPoints()];
      int count = 0;
      DocIdSetIterator iterator = seeded.entryPoints();
      int ordinal;
      while (count < entryPoints.length
          && (ordinal = iterator.nextDoc()) != DocIdSetIterator.NO_MORE_DOCS) {
        if (ordinal < size) {
          entryPoints[count++] = ordinal;
        }
      }
      return Arrays.copyOf(entryPoints, count);
    }
    return NO_ENTRY_POINTS;
  }

  private static final class EntryPoints extends DocIdSetIterator {
    private final int[] ordinals;
    private int next;

    EntryPoints(int[] ordinals) {
      this.ordinals = ordinals;
    }

    @Override
    public int docID() {
      return next == 0 ? -1 : next > ordinals.length ? NO_MORE_DOCS : ordinals[next - 1];
    }

    @Override
    public int nextDoc() {
      next = Math.min(next, ordinals.length) + 1;
      return docID();
    }

    @Override
    public int advance(int target) throws IOException {
      return slowAdvance(target);
    }

    @Override
    public long cost() {
      return ordinals.length;
    }
  }
}
