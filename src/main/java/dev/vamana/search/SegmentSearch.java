package dev.vamana.search;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.BitSet;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.hnsw.OrdinalTranslatedKnnCollector;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Answers Lucene's search of one segment: scans, walks with the collector, or passes a work item to
 * an executor.
 *
 * <p>The collector drives the walk unless an executor is installed or the query has its own walk
 * parameters. An executor returns the k best hits, which are then collected. Two kinds of
 * collectors need other hits than the k best: collectors without a k of their own (thresholds,
 * which report k = 1), and collectors that keep one hit per parent. The first kind has a
 * competitive score before its first hit and is walked here. The second kind is recognized because
 * it is not full after k hits, and is then walked here.
 */
public final class SegmentSearch {

  private static final int[] NO_ENTRY_POINTS = new int[0];

  private SegmentSearch() {}

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
    if (segment.size() == 0 || collector.k() == 0) {
      return;
    }
    // opening a scorer takes longer than handing an item over, so it is opened when it is needed
    RandomVectorScorer scorer = segment.isDense() ? null : segment.scorer(query);
    KnnCollector ordinals =
        new OrdinalTranslatedKnnCollector(
            collector, scorer == null ? ordinal -> ordinal : scorer::ordToDoc);
    Bits acceptedDocs = acceptDocs.bits();
    Bits acceptedOrdinals = scorer == null ? acceptedDocs : scorer.getAcceptOrds(acceptedDocs);
    int accepted = accepted(segment, acceptDocs, acceptedDocs, acceptedOrdinals);
    KnnSearchStrategy strategy = collector.getSearchStrategy();
    WalkParameters own = walkParameters(strategy);
    SearchExecutor executor = ExecutorRegistry.current();
    WalkChange change = segment.walkChange();
    if (own == null && change.isNone() == false) {
      own = change.applyTo(defaultWalk(executor, collector.k()));
    }
    WalkParameters walk = own == null ? defaultWalk(executor, collector.k()) : own;
    int beam = Math.max(collector.k(), walk.beamWidth());
    // a collector ranks by scores, so it cannot steer a walk if scores are too coarse
    boolean coarse = segment.rawComparison() != null;
    boolean lists = segment.hasLists();
    boolean handsLists =
        lists && executor != null && executor.takesLists(segment, collector.k(), accepted);
    boolean asWorkItem =
        (lists ? handsLists : own != null || executor != null || coarse)
            && wantsBestHits(collector)
            && collector.k() <= WalkParameters.MAX_BEAM_WIDTH;
    boolean scan =
        lists == false
            && (executor == null
                ? SearchPlan.scan(segment, beam, accepted)
                : SearchPlan.scanBesideExecutor(segment, beam, accepted));
    boolean offers = scan && asWorkItem && executor != null;
    SearchExecutor.LeftScan left =
        offers ? executor.leavesScan(segment, collector.k(), accepted) : null;
    if (left != null) {
      try {
        scanAll(segment, query, scorer, ordinals, acceptedOrdinals);
      } finally {
        left.ended();
      }
      return;
    }
    boolean handsOver = offers && executor.takesScan(segment, collector.k(), accepted);
    if (scan && handsOver == false && (coarse && asWorkItem) == false) {
      count(executor, CpuSearches.Reason.SCAN);
      scanAll(segment, query, scorer, ordinals, acceptedOrdinals);
      return;
    }
    int[] entryPoints = entryPoints(strategy, segment.size());
    if (asWorkItem) {
      AcceptedOrdinals.Copy copy =
          segment.acceptedOrdinals().of(acceptedDocs, acceptedOrdinals, segment.size());
      WorkItem item =
          new WorkItem(
              segment,
              query,
              collector.k(),
              walk,
              copy == null ? null : copy.bits(),
              copy == null ? segment.size() : copy.count(),
              collector.visitLimit() - collector.visitedCount(),
              collector::earlyTerminated,
              entryPoints);
      WorkResult result =
          executor == null || (scan && handsOver == false)
              ? CpuExecutor.search(item)
              : executor.search(List.of(item)).get(0);
      if (replay(result, ordinals)) {
        if (executor == null) {
          count(null, CpuSearches.Reason.NO_EXECUTOR);
        } else if (scan && handsOver == false) {
          count(executor, CpuSearches.Reason.SCAN);
        }
        return;
      }
      count(executor, CpuSearches.Reason.REPEATED);
    } else {
      count(
          executor,
          lists && handsLists == false ? CpuSearches.Reason.LISTS : CpuSearches.Reason.COLLECTOR);
    }
    if (scorer == null) {
      scorer = segment.scorer(query);
    }
    if (lists) {
      new ListSearch(segment, query, scorer, ordinals, beam).run(acceptedOrdinals, accepted);
      return;
    }
    if (scan) {
      new ExactScan(scorer, ordinals).run(acceptedOrdinals);
      return;
    }
    int[] starts = new int[entryPoints.length + 1];
    starts[0] = segment.medoid();
    System.arraycopy(entryPoints, 0, starts, 1, entryPoints.length);
    CollectorWalk steered =
        new CollectorWalk(
            scorer,
            coarse || query.floats() == null ? null : segment.distanceFilter(query.floats()),
            segment.adjacency(),
            ordinals,
            acceptedOrdinals,
            beam);
    long patience =
        acceptedOrdinals == null
            ? CollectorWalk.TO_THE_END
            : SearchPlan.patience(segment, beam, accepted);
    boolean ended = steered.run(starts, patience);
    float worst = ordinals.minCompetitiveSimilarity();
    boolean full = worst != Float.NEGATIVE_INFINITY;
    if (ended == false || (full == false && ordinals.earlyTerminated() == false)) {
      scanRest(scorer, ordinals, steered, accepted);
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
   * Scores all accepted vectors.
   *
   * @param opened the query's scorer, or null if it has not been opened
   */
  private static void scanAll(
      SegmentView segment,
      QueryVector query,
      RandomVectorScorer opened,
      KnnCollector ordinals,
      Bits accepted)
      throws IOException {
    RandomVectorScorer scorer = opened == null ? segment.scorer(query) : opened;
    new ExactScan(scorer, ordinals).run(accepted);
  }

  /**
   * Scans what a walk has left, because it was given up or has missed hits. Lucene's queries limit
   * the number of distances of a filtered search to the number of accepted vectors, and score all
   * of them if the limit is reached: if it would be, the search ends at once.
   */
  private static void scanRest(
      RandomVectorScorer scorer, KnnCollector ordinals, CollectorWalk walk, int accepted)
      throws IOException {
    long left = ordinals.visitLimit() - ordinals.visitedCount();
    if (left < accepted) {
      ordinals.incVisitedCount((int) Math.max(0, left));
    } else {
      new ExactScan(scorer, ordinals).run(walk.unscored());
    }
  }

  private static WalkParameters defaultWalk(SearchExecutor executor, int k) {
    return executor == null ? WalkParameters.defaults(k) : executor.defaultWalk(k);
  }

  /** Counts an item answered by the CPU. Without an executor, the reason is that there is none. */
  private static void count(SearchExecutor executor, CpuSearches.Reason reason) {
    ExecutorRegistry.cpuSearches()
        .add(executor == null ? CpuSearches.Reason.NO_EXECUTOR : reason, 1);
  }

  /**
   * Whether the collector collects the best hits. A collector of all hits above a score reports k =
   * 1, but has a competitive score before its first hit.
   */
  private static boolean wantsBestHits(KnnCollector collector) {
    return collector.k() > 1 || collector.minCompetitiveSimilarity() == Float.NEGATIVE_INFINITY;
  }

  /** Collects the result. Returns false if the collector needs hits other than the k best. */
  private static boolean replay(WorkResult result, KnnCollector collector) {
    collector.incVisitedCount((int) Math.min(Integer.MAX_VALUE, result.visited()));
    int[] ordinals = result.ordinals();
    for (int i = 0; i < ordinals.length; i++) {
      collector.collect(ordinals[i], result.scores()[i]);
    }
    // not ">": damaged vectors have NaN scores, and their hits would be collected twice
    boolean full = collector.minCompetitiveSimilarity() != Float.NEGATIVE_INFINITY;
    return full || ordinals.length < collector.k() || collector.earlyTerminated();
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
}
