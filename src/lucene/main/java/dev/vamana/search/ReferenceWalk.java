package dev.vamana.search;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.VisitedSet;
import dev.vamana.graph.Worklist;
import dev.vamana.vectors.ScalarFilter;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.util.Bits;

/**
 * The walk that all executors' walks are compared with: greedy search with a worklist of fixed
 * capacity (BANG, algorithm 2, ending when no unexpanded entry is left), followed by exact scores
 * for the best entries.
 *
 * <p>Rules that make it reproducible: the worklist is ordered by distance, then by lower ordinal; a
 * step expands the nearest {@code parents} unexpanded entries; their neighbours are taken in the
 * order of the parents and of their rows; a node counts as visited when it is first seen, whether
 * or not it enters the worklist. Rejected nodes are walked through; the worklist's capacity grows
 * by the inverse of the accepted share ({@link WorkItem#effectiveBeamWidth()}).
 *
 * <p>{@link #estimating} makes a walk that leaves out nodes whose estimated distance is too large
 * for a full worklist. It costs less, and finds nearly the same.
 */
final class ReferenceWalk {

  private final WorkItem item;
  private final Adjacency graph;
  private final ExactDistances exact;
  private final WalkDistances distances;
  private final boolean quantized;
  // estimates which nodes need no exact distance, or null to compute all
  private final ScalarFilter filter;
  private final Worklist worklist;
  private final VisitedSet visited;
  private int[] fresh;
  private float[] freshDistances;
  private final int[] leftOut;
  private int[] expanded = new int[64];
  private int expandedCount;
  private long visitedCount;

  /** Makes a walk that computes the distance of every node that it meets. */
  ReferenceWalk(WorkItem item) throws IOException {
    this(item, null);
  }

  /**
   * Makes a walk that estimates distances first where the segment has codes for that. A walk that
   * may reach its visit limit does not: the limit would end it later than others.
   */
  static ReferenceWalk estimating(WorkItem item) throws IOException {
    SegmentView segment = item.segment();
    boolean estimates =
        item.walk().distances() == WalkParameters.Distances.EXACT
            && item.query().floats() != null
            && segment.rawComparison() == null
            && item.limitWithinReach() == Long.MAX_VALUE;
    return new ReferenceWalk(
        item, estimates ? segment.distanceFilter(item.query().floats()) : null);
  }

  private ReferenceWalk(WorkItem item, ScalarFilter filter) throws IOException {
    this.item = item;
    this.filter = filter;
    SegmentView segment = item.segment();
    this.graph = segment.adjacency();
    this.exact = ExactDistances.of(segment, item.query());
    this.quantized =
        item.walk().distances() == WalkParameters.Distances.QUANTIZED && segment.codebook() != null;
    this.distances = quantized ? WalkDistances.quantized(segment, item.query()) : exact;
    int beam = item.effectiveBeamWidth();
    this.worklist = new Worklist(beam);
    this.visited = new VisitedSet(graph.size(), beam * 12);
    this.fresh =
        new int[Math.max(graph.maxDegree() * item.walk().parents(), 1 + item.entryPoints().length)];
    this.freshDistances = new float[fresh.length];
    this.leftOut = filter == null ? null : new int[fresh.length];
  }

  WorkResult run() throws IOException {
    boolean complete = walk();
    if (quantized == false) {
      return exactResult(complete);
    }
    int[] candidates =
        item.walk().rerankDepth() == WalkParameters.RERANK_EXPANDED
            ? acceptedExpanded()
            : acceptedBest();
    return Rerank.exact(exact, candidates, item.k(), visitedCount, complete);
  }

  private boolean walk() throws IOException {
    int count = 0;
    fresh[count++] = item.segment().medoid();
    visited.add(fresh[0]);
    for (int entryPoint : item.entryPoints()) {
      if (visited.add(entryPoint)) {
        fresh[count++] = entryPoint;
      }
    }
    if (score(count) == false) {
      return false;
    }
    int[] row = new int[graph.maxDegree()];
    while (true) {
      count = 0;
      int parents = 0;
      int parent;
      while (parents < item.walk().parents() && (parent = worklist.expandNext()) >= 0) {
        remember(parent);
        parents++;
        int degree = graph.neighbors(parent, row);
        count += visited.addAll(row, degree, fresh, count);
      }
      if (parents == 0) {
        return true;
      }
      if (score(count) == false) {
        return false;
      }
    }
  }

  /**
   * Computes distances of fresh nodes. Returns false if the limit or a cancellation ends the walk.
   */
  private boolean score(int found) throws IOException {
    if (item.cancelled().getAsBoolean()) {
      return false;
    }
    int count = found;
    if (filter != null && worklist.isFull()) {
      count = filter.keep(fresh, found, leftOut, 0, -worklist.distance(worklist.size() - 1));
    }
    int allowed = (int) Math.min(count, item.visitLimit() - visitedCount);
    distances.distances(fresh, freshDistances, allowed);
    visitedCount += allowed;
    for (int i = 0; i < allowed; i++) {
      worklist.insert(fresh[i], freshDistances[i]);
    }
    return allowed == count;
  }

  private void remember(int node) {
    if (expandedCount == expanded.length) {
      expanded = Arrays.copyOf(expanded, expandedCount * 2);
    }
    expanded[expandedCount++] = node;
  }

  private boolean accepts(int ordinal) {
    Bits accepted = item.acceptedOrdinals();
    return accepted == null || accepted.get(ordinal);
  }

  private WorkResult exactResult(boolean complete) {
    int[] ordinals = new int[Math.min(item.k(), worklist.size())];
    float[] scores = new float[ordinals.length];
    int count = 0;
    for (int rank = 0; rank < worklist.size() && count < ordinals.length; rank++) {
      if (accepts(worklist.ordinal(rank))) {
        ordinals[count] = worklist.ordinal(rank);
        scores[count++] = worklist.distance(rank);
      }
    }
    scores = Arrays.copyOf(scores, count);
    exact.toScores(scores);
    return new WorkResult(Arrays.copyOf(ordinals, count), scores, visitedCount, complete);
  }

  private int[] acceptedBest() {
    int[] best = new int[Math.min(item.walk().rerankDepth(item.k()), worklist.size())];
    int count = 0;
    for (int rank = 0; rank < worklist.size() && count < best.length; rank++) {
      if (accepts(worklist.ordinal(rank))) {
        best[count++] = worklist.ordinal(rank);
      }
    }
    return Arrays.copyOf(best, count);
  }

  private int[] acceptedExpanded() {
    return Arrays.stream(expanded, 0, expandedCount).filter(this::accepts).toArray();
  }
}
