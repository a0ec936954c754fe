package dev.vamana.search;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.VisitedSet;
import java.io.IOException;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.LongHeap;
import org.apache.lucene.util.NumericUtils;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Greedy search on exact scores that is steered by a Lucene collector: the collector's k is the
 * beam width, its competitive similarity prunes and ends the walk, and it may stop it at any step.
 *
 * <p>Every kind of collector works, since each accepted hit is handed over as it is found: top k,
 * thresholds without a k, one hit a parent, time limits, saturation. Rejected nodes are walked
 * through but not collected.
 */
final class CollectorWalk {

  private final RandomVectorScorer scorer;
  private final Adjacency graph;
  private final KnnCollector collector;
  private final Bits acceptedOrdinals;
  private final KnnSearchStrategy strategy;
  private final VisitedSet visited;
  private final LongHeap candidates;
  private final int[] row;
  private final int[] fresh;
  private final float[] scores;
  private float minCompetitive;

  /**
   * Makes a walk.
   *
   * @param scorer exact scores of the query against ordinals
   * @param collector receives ordinals (not documents) with their scores
   * @param acceptedOrdinals which ordinals may be collected, or null for all
   */
  CollectorWalk(
      RandomVectorScorer scorer, Adjacency graph, KnnCollector collector, Bits acceptedOrdinals) {
    this.scorer = scorer;
    this.graph = graph;
    this.collector = collector;
    this.acceptedOrdinals = acceptedOrdinals;
    this.strategy = collector.getSearchStrategy();
    int beam = Math.max(32, Math.min(collector.k(), graph.size()));
    this.visited = new VisitedSet(graph.size(), beam * 12);
    this.candidates = new LongHeap(beam);
    this.row = new int[graph.maxDegree()];
    this.fresh = new int[graph.maxDegree()];
    this.scores = new float[graph.maxDegree()];
  }

  /** Walks from the given ordinals until nothing competitive is left or the collector ends it. */
  void run(int[] entryPoints) throws IOException {
    minCompetitive = collector.minCompetitiveSimilarity();
    int count = 0;
    for (int entryPoint : entryPoints) {
      if (visited.add(entryPoint)) {
        fresh[count++] = entryPoint;
      }
      if (count == fresh.length) {
        score(count);
        count = 0;
      }
    }
    score(count);
    while (candidates.size() > 0 && collector.earlyTerminated() == false) {
      long nearest = candidates.pop();
      // equal scores are collected but not followed, or a field of equal vectors would be walked
      // whole
      if (scoreOf(nearest) <= minCompetitive) {
        return;
      }
      int degree = graph.neighbors(ordinalOf(nearest), row);
      count = 0;
      for (int i = 0; i < degree; i++) {
        if (visited.add(row[i])) {
          fresh[count++] = row[i];
        }
      }
      score(count);
      if (strategy != null) {
        strategy.nextVectorsBlock();
      }
    }
  }

  private void score(int wanted) throws IOException {
    int count =
        (int) Math.min(wanted, Math.max(0, collector.visitLimit() - collector.visitedCount()));
    if (count == 0) {
      return;
    }
    collector.incVisitedCount(count);
    if (scorer.bulkScore(fresh, scores, count) < minCompetitive) {
      return;
    }
    for (int i = 0; i < count; i++) {
      float score = scores[i];
      if (score < minCompetitive) {
        continue;
      }
      if (score > minCompetitive) {
        candidates.push(encode(fresh[i], score));
      }
      if ((acceptedOrdinals == null || acceptedOrdinals.get(fresh[i]))
          && collector.collect(fresh[i], score)) {
        minCompetitive = collector.minCompetitiveSimilarity();
      }
    }
  }

  /** Highest score first, then lower ordinal, in a heap whose top is the smallest value. */
  private static long encode(int ordinal, float score) {
    return ((long) ~NumericUtils.floatToSortableInt(score) << 32) | ordinal;
  }

  private static float scoreOf(long candidate) {
    return NumericUtils.sortableIntToFloat(~(int) (candidate >> 32));
  }

  private static int ordinalOf(long candidate) {
    return (int) candidate;
  }
}
