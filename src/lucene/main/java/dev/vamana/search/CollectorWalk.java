package dev.vamana.search;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.VisitedSet;
import dev.vamana.vectors.ScalarFilter;
import java.io.IOException;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.LongHeap;
import org.apache.lucene.util.NumericUtils;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Greedy search with exact scores, driven by a Lucene collector: the collector's competitive
 * similarity prunes and ends the walk, and the collector may stop it at any step. {@link
 * SegmentSearch} uses it for collectors that an executor cannot serve; {@link ReferenceWalk} is the
 * walk of work items.
 *
 * <p>Every kind of collector works, since each accepted hit is collected when it is found: top k,
 * thresholds without a k, one hit per parent, time limits, saturation. Rejected nodes are walked
 * through but not collected.
 *
 * <p>A collector of one or a few hits would end the walk at the first local optimum, often the
 * medoid. So if it keeps fewer hits than the beam is wide, the walk keeps a beam of its own and
 * continues while a node could enter either.
 */
final class CollectorWalk {

  /** Patience of a walk that is not given up. */
  static final long TO_THE_END = Long.MAX_VALUE / 2;

  // nodes that are scored before the others are compared again with the worst useful score
  private static final int TOGETHER = 8;

  private final RandomVectorScorer scorer;
  private final ScalarFilter filter;
  private final Adjacency graph;
  private final KnnCollector collector;
  private final Bits acceptedOrdinals;
  // null if the collector is not told of steps
  private KnnSearchStrategy strategy;
  private final VisitedSet visited;
  private final LongHeap candidates;
  // the best accepted nodes, worst on top; null if the collector is the beam
  private LongHeap beam;
  private int beamWidth;
  private final int[] row;
  private final int[] fresh;
  private final float[] scores;
  private final int[] together = new int[TOGETHER];
  // visited nodes whose estimated distance was too large for an exact one
  private int[] skipped = new int[256];
  private int skippedCount;
  private float minCompetitive;
  private float expandedTie = Float.NaN;
  // steps, the blocks they made, the nodes they found, and how many of these are accepted
  private long steps;
  private long blocks;
  private long foundNodes;
  private long foundAccepted;

  /**
   * Makes a walk.
   *
   * @param scorer exact scores of the query against ordinals
   * @param filter estimates which nodes need no exact score, or null to score all
   * @param collector receives ordinals (not documents) with their scores
   * @param acceptedOrdinals ordinals that may be collected, or null for all
   * @param beamWidth least number of accepted nodes that the walk keeps, 1 or more
   */
  CollectorWalk(
      RandomVectorScorer scorer,
      ScalarFilter filter,
      Adjacency graph,
      KnnCollector collector,
      Bits acceptedOrdinals,
      int beamWidth) {
    this.scorer = scorer;
    this.filter = filter;
    this.graph = graph;
    this.collector = collector;
    this.acceptedOrdinals = acceptedOrdinals;
    this.strategy = unseeded(collector.getSearchStrategy());
    this.beamWidth = Math.min(beamWidth, graph.size());
    this.beam = collector.k() >= beamWidth ? null : new LongHeap(this.beamWidth);
    int expected = Math.max(32, Math.min(Math.max(beamWidth, collector.k()), graph.size()));
    this.visited = new VisitedSet(graph.size(), expected * 12);
    this.candidates = new LongHeap(expected);
    this.row = new int[graph.maxDegree()];
    this.fresh = new int[graph.maxDegree()];
    this.scores = new float[graph.maxDegree()];
  }

  /**
   * Prepares for the first or the next of several walks that no edges connect. Each has a beam of
   * its own, since the hits of the walks before may be nearer than its first steps. Strategies are
   * not told of steps any more: a walk that finds nothing new does not tell of the next one.
   */
  void next(int width) {
    beamWidth = Math.min(width, graph.size());
    beam = new LongHeap(beamWidth);
    candidates.clear();
    expandedTie = Float.NaN;
    strategy = null;
  }

  /**
   * Unwraps seeded strategies. In Lucene's second pass a seeded strategy may wrap null, which its
   * own methods do not check.
   */
  static KnnSearchStrategy unseeded(KnnSearchStrategy strategy) {
    return strategy instanceof KnnSearchStrategy.Seeded seeded
        ? unseeded(seeded.originalStrategy())
        : strategy;
  }

  /**
   * Walks from the given ordinals until no candidate is competitive or the collector stops the
   * walk.
   *
   * @param patience number of distances after which the walk is given up
   * @return whether the walk has ended, rather than been given up
   */
  boolean run(int[] entryPoints, long patience) throws IOException {
    long given = collector.visitedCount() + patience;
    collect(entryPoints);
    while (candidates.size() > 0 && collector.earlyTerminated() == false) {
      long nearest = candidates.pop();
      if (worthExpanding(nearest) == false) {
        return true;
      }
      if (collector.visitedCount() > given) {
        return false;
      }
      int degree = graph.neighbors(ordinalOf(nearest), row);
      int found = visited.addAll(row, degree, fresh, 0);
      boolean block = strategy != null && endsBlock(found);
      score(found);
      // patience must not end a walk before the collector is full
      if (block && minCompetitive != Float.NEGATIVE_INFINITY) {
        strategy.nextVectorsBlock();
      }
    }
    return true;
  }

  /** Scores nodes, which are then candidates of the walk. */
  void collect(int[] nodes) throws IOException {
    minCompetitive = collector.minCompetitiveSimilarity();
    int count = 0;
    for (int node : nodes) {
      if (visited.add(node)) {
        fresh[count++] = node;
      }
      if (count == fresh.length) {
        score(count);
        count = 0;
      }
    }
    score(count);
  }

  /**
   * Whether a step ends a block of vectors. Strategies that end a search which hardly finds
   * anything new take a block for a step of which every node could be a hit. So where some nodes
   * are rejected, blocks are as many of the steps as nodes are accepted of all that were found.
   */
  private boolean endsBlock(int found) {
    steps++;
    if (acceptedOrdinals == null) {
      return true;
    }
    foundNodes += found;
    for (int i = 0; i < found; i++) {
      foundAccepted += acceptedOrdinals.get(fresh[i]) ? 1 : 0;
    }
    if (blocks * foundNodes >= steps * foundAccepted) {
      return false;
    }
    blocks++;
    return true;
  }

  /**
   * Returns the accepted ordinals that the walk did not score. Ask for each once, and only after
   * the walk.
   */
  Bits unscored() {
    VisitedSet left = new VisitedSet(graph.size(), skippedCount);
    for (int i = 0; i < skippedCount; i++) {
      left.add(skipped[i]);
    }
    return new Bits() {
      @Override
      public boolean get(int ordinal) {
        return (acceptedOrdinals == null || acceptedOrdinals.get(ordinal))
            && (visited.add(ordinal) || left.contains(ordinal));
      }

      @Override
      public int length() {
        return graph.size();
      }
    };
  }

  private boolean worthExpanding(long candidate) {
    float score = scoreOf(candidate);
    if (score > minCompetitive) {
      return true;
    }
    if (beam != null) {
      return beam.size() < beamWidth || ~candidate >= beam.top();
    }
    // The worst hit of a full collector is expanded like the last entry of a worklist, but only
    // once; otherwise a field of equal vectors would be walked as a whole.
    if (score < minCompetitive || score == expandedTie) {
      return false;
    }
    expandedTie = score;
    return true;
  }

  /** Returns how many of the fresh nodes may be useful; they come first afterwards. */
  private int useful(int count) throws IOException {
    float least = leastUseful();
    if (filter == null || least == Float.NEGATIVE_INFINITY) {
      return count;
    }
    skipped = ArrayUtil.grow(skipped, skippedCount + count);
    int kept = filter.keep(fresh, count, skipped, skippedCount, least);
    skippedCount += count - kept;
    return kept;
  }

  /**
   * Scores fresh nodes. Those that may be useful are scored a few at a time, nearest first by
   * estimate: the first ones raise the score below which others are useless.
   */
  private void score(int found) throws IOException {
    int wanted = useful(found);
    if (filter == null || wanted <= TOGETHER || leastUseful() == Float.NEGATIVE_INFINITY) {
      scoreAll(fresh, wanted);
      return;
    }
    filter.sort(fresh, wanted);
    int from = 0;
    while (from < wanted) {
      int count = Math.min(TOGETHER, wanted - from);
      System.arraycopy(fresh, from, together, 0, count);
      scoreAll(together, count);
      from += count;
      int within = Math.max(from, filter.within(wanted, leastUseful()));
      System.arraycopy(fresh, within, skipped, skippedCount, wanted - within);
      skippedCount += wanted - within;
      wanted = within;
    }
  }

  private void scoreAll(int[] ordinals, int wanted) throws IOException {
    int count =
        (int) Math.min(wanted, Math.max(0, collector.visitLimit() - collector.visitedCount()));
    if (count == 0) {
      return;
    }
    collector.incVisitedCount(count);
    if (scorer.bulkScore(ordinals, scores, count) < leastUseful()) {
      return;
    }
    for (int i = 0; i < count; i++) {
      int ordinal = ordinals[i];
      float score = scores[i];
      long candidate = encode(ordinal, score);
      boolean accepted = acceptedOrdinals == null || acceptedOrdinals.get(ordinal);
      boolean competitive = entersBeam(candidate, accepted) || score > minCompetitive;
      if (accepted && score >= minCompetitive && collector.collect(ordinal, score)) {
        competitive = true;
        minCompetitive = collector.minCompetitiveSimilarity();
      }
      if (competitive) {
        candidates.push(candidate);
      }
    }
  }

  /** Returns the score below which a node is neither collected nor followed. */
  private float leastUseful() {
    if (beam == null) {
      return minCompetitive;
    }
    return beam.size() < beamWidth
        ? Float.NEGATIVE_INFINITY
        : Math.min(minCompetitive, scoreOf(~beam.top()));
  }

  private boolean entersBeam(long candidate, boolean accepted) {
    if (beam == null) {
      return false;
    }
    return accepted
        ? beam.insertWithOverflow(~candidate)
        : beam.size() < beamWidth || ~candidate > beam.top();
  }

  /**
   * Encodes a candidate so that the highest score, and then the lowest ordinal, is the smallest
   * value.
   */
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
