package dev.vamana.graph;

import dev.vamana.vectors.PairDistances;
import java.io.IOException;

/**
 * Chooses diverse out-neighbours among candidates (DiskANN's RobustPrune): from near to far, a
 * candidate is dropped if a kept neighbour is nearer to it than the node is, by the factor alpha.
 *
 * <p>With inner products a long vector is nearer to most vectors than they are to each other, and
 * would drop nearly all candidates. There the comparison uses directions, while candidates are
 * still ordered by inner product.
 *
 * <p>Not thread-safe; each building thread has its own instance.
 */
final class RobustPrune {

  // Lucene's bulk scorers process four vectors at a time; usually one of the first few kept
  // neighbours decides
  private static final int CHUNK = 4;

  private final PairDistances distances;
  private final float alpha;
  private final int[] chunk = new int[CHUNK];
  private final float[] chunkDistances = new float[CHUNK];
  private final int[] kept;
  private final float[] keptDistances;
  // kept neighbours that are not settled
  private final int[] unsettled;

  RobustPrune(PairDistances distances, BuildParameters parameters) {
    this.distances = distances;
    this.alpha = parameters.alpha();
    this.kept = new int[parameters.maxDegree()];
    this.keptDistances = new float[parameters.maxDegree()];
    this.unsettled = new int[parameters.maxDegree()];
  }

  /** Returns the ordinals that the last {@link #prune} kept. */
  int[] kept() {
    return kept;
  }

  /** Returns their distances from the node. */
  float[] keptDistances() {
    return keptDistances;
  }

  /**
   * Chooses the out-neighbours of a node.
   *
   * @param node the node; skipped if it is among the candidates
   * @param candidates distinct ordinals in ascending order of distance from the node
   * @param candidateDistances their distances
   * @param settled whether an earlier prune for this node kept a candidate: such candidates do not
   *     occlude each other, so they are not compared again
   * @param count number of candidates
   * @return number of kept candidates, at most the max degree
   */
  int prune(int node, int[] candidates, float[] candidateDistances, boolean[] settled, int count)
      throws IOException {
    int size = 0;
    int others = 0;
    for (int i = 0; i < count && size < kept.length; i++) {
      int candidate = candidates[i];
      if (candidate == node) {
        continue;
      }
      int[] against = settled[i] ? unsettled : kept;
      int compared = settled[i] ? others : size;
      if (occluded(candidate, node, candidateDistances[i], against, compared)) {
        continue;
      }
      kept[size] = candidate;
      keptDistances[size] = candidateDistances[i];
      size++;
      if (settled[i] == false) {
        unsettled[others++] = candidate;
      }
    }
    return size;
  }

  private boolean occluded(int candidate, int node, float distance, int[] against, int size)
      throws IOException {
    if (size == 0) {
      return false;
    }
    distances.pivot(candidate);
    float own = distances.scaled(node, distance);
    for (int from = 0; from < size; from += CHUNK) {
      int count = Math.min(CHUNK, size - from);
      System.arraycopy(against, from, chunk, 0, count);
      distances.distances(chunk, chunkDistances, count);
      for (int i = 0; i < count; i++) {
        if (chunk[i] == candidate || alpha * distances.scaled(chunk[i], chunkDistances[i]) <= own) {
          return true;
        }
      }
    }
    return false;
  }
}
