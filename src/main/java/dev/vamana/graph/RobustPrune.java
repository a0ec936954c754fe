package dev.vamana.graph;

import dev.vamana.vectors.PairDistances;
import java.io.IOException;

/**
 * Chooses diverse out-neighbours among candidates (DiskANN's RobustPrune): going from near to far,
 * a candidate is dropped when an already kept neighbour is alpha times nearer to it than the node
 * itself is.
 *
 * <p>By inner products a long vector is nearer to most others than these are to each other, and
 * would drop nearly all candidates. With them it is directions that are compared, while near and
 * far still go by the product.
 *
 * <p>Not thread-safe; each building thread has its own.
 */
final class RobustPrune {

  // Lucene's bulk scorers take four vectors at a time; a nearer kept neighbour usually decides
  // within the first few
  private static final int CHUNK = 4;

  private final PairDistances distances;
  private final float alpha;
  private final int[] chunk = new int[CHUNK];
  private final float[] chunkDistances = new float[CHUNK];
  private final int[] kept;
  private final float[] keptDistances;

  RobustPrune(PairDistances distances, BuildParameters parameters) {
    this.distances = distances;
    this.alpha = parameters.alpha();
    this.kept = new int[parameters.maxDegree()];
    this.keptDistances = new float[parameters.maxDegree()];
  }

  /** The ordinals that the last {@link #prune} kept. */
  int[] kept() {
    return kept;
  }

  /** Their distances from the node. */
  float[] keptDistances() {
    return keptDistances;
  }

  /**
   * Chooses the out-neighbours of a node.
   *
   * @param node the node whose row is chosen; skipped if it is among the candidates
   * @param candidates distinct ordinals in ascending order of distance from the node
   * @param candidateDistances their distances
   * @param count how many candidates there are
   * @return how many were kept, at most the max degree
   */
  int prune(int node, int[] candidates, float[] candidateDistances, int count) throws IOException {
    int size = 0;
    for (int i = 0; i < count && size < kept.length; i++) {
      int candidate = candidates[i];
      if (candidate == node || occluded(candidate, node, candidateDistances[i], size)) {
        continue;
      }
      kept[size] = candidate;
      keptDistances[size] = candidateDistances[i];
      size++;
    }
    return size;
  }

  private boolean occluded(int candidate, int node, float distance, int size) throws IOException {
    if (size == 0) {
      return false;
    }
    distances.pivot(candidate);
    float own = distances.scaled(node, distance);
    for (int from = 0; from < size; from += CHUNK) {
      int count = Math.min(CHUNK, size - from);
      System.arraycopy(kept, from, chunk, 0, count);
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
