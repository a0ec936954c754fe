package dev.vamana.search;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.hnsw.OrdinalTranslatedKnnCollector;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Answers Lucene's search of one segment: scans, walks with the collector, or hands a work item to
 * an executor.
 *
 * <p>A walk is steered by the collector unless an executor is installed or the query brings its own
 * walk parameters; an executor returns the k best hits, which are then replayed into the collector.
 * Two kinds of collectors do not want the k best: those without a k of their own (thresholds, which
 * say k = 1) and those that keep one hit a parent. The first have a competitive score before their
 * first hit and are walked here; the second show by not being full after k hits, and are walked
 * here then.
 */
public final class SegmentSearch {

  private static final int[] NO_ENTRY_POINTS = new int[0];

  private SegmentSearch() {}

  /**
   * Searches a segment on the calling thread, which is also the only one that touches the collector
   * and the accepted documents.
   *
   * @param collector receives documents of the segment with exact scores
   * @param acceptDocs which documents may be collected
   */
  public static void search(
      SegmentView segment, QueryVector query, KnnCollector collector, AcceptDocs acceptDocs)
      throws IOException {
    if (segment.size() == 0 || collector.k() == 0) {
      return;
    }
    RandomVectorScorer scorer = segment.scorer(query);
    KnnCollector ordinals = new OrdinalTranslatedKnnCollector(collector, scorer::ordToDoc);
    int accepted = Math.min(acceptDocs.cost(), segment.size());
    Bits acceptedDocs = acceptDocs.bits();
    Bits acceptedOrdinals = scorer.getAcceptOrds(acceptedDocs);
    KnnSearchStrategy strategy = collector.getSearchStrategy();
    WalkParameters own = walkParameters(strategy);
    SearchExecutor executor = ExecutorRegistry.current();
    WalkParameters walk = own == null ? defaultWalk(executor, collector.k()) : own;
    int beam = Math.max(collector.k(), walk.beamWidth());
    // a collector ranks by scores, and cannot steer where those are too coarse
    boolean coarse = segment.rawComparison() != null;
    boolean asWorkItem =
        (own != null || executor != null || coarse)
            && wantsBestHits(collector)
            && collector.k() <= WalkParameters.MAX_BEAM_WIDTH;
    boolean scan = SearchPlan.scan(segment, beam, accepted);
    boolean handsOver =
        scan
            && asWorkItem
            && executor != null
            && executor.takesScan(segment, collector.k(), accepted);
    if (scan && handsOver == false && (coarse && asWorkItem) == false) {
      count(executor, CpuSearches.Reason.SCAN);
      new ExactScan(scorer, ordinals).run(acceptedOrdinals);
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
      count(executor, CpuSearches.Reason.COLLECTOR);
    }
    if (scan) {
      new ExactScan(scorer, ordinals).run(acceptedOrdinals);
      return;
    }
    int[] starts = new int[entryPoints.length + 1];
    starts[0] = segment.medoid();
    System.arraycopy(entryPoints, 0, starts, 1, entryPoints.length);
    CollectorWalk steered =
        new CollectorWalk(scorer, segment.adjacency(), ordinals, acceptedOrdinals, beam);
    steered.run(starts);
    float worst = ordinals.minCompetitiveSimilarity();
    if (worst > Float.NEGATIVE_INFINITY
        && worst < SearchPlan.unreliableBelow(segment)
        && ordinals.earlyTerminated() == false) {
      new ExactScan(scorer, ordinals).run(steered.unvisited());
    }
  }

  private static WalkParameters defaultWalk(SearchExecutor executor, int k) {
    return executor == null ? WalkParameters.defaults(k) : executor.defaultWalk(k);
  }

  /** Counts an item as the CPU's; without an executor, that is the reason. */
  private static void count(SearchExecutor executor, CpuSearches.Reason reason) {
    ExecutorRegistry.cpuSearches()
        .add(executor == null ? CpuSearches.Reason.NO_EXECUTOR : reason, 1);
  }

  /**
   * Whether the collector keeps the best hits. One for all hits above a score says that it keeps
   * one, but has a competitive score before its first hit, which a collector of the best has not.
   */
  private static boolean wantsBestHits(KnnCollector collector) {
    return collector.k() > 1 || collector.minCompetitiveSimilarity() == Float.NEGATIVE_INFINITY;
  }

  /** Returns false if the collector wants hits that the k best do not contain. */
  private static boolean replay(WorkResult result, KnnCollector collector) {
    collector.incVisitedCount((int) Math.min(Integer.MAX_VALUE, result.visited()));
    int[] ordinals = result.ordinals();
    for (int i = 0; i < ordinals.length; i++) {
      collector.collect(ordinals[i], result.scores()[i]);
    }
    // not ">", or hits of damaged vectors, whose scores are not numbers, would be collected twice
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
