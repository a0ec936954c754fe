package dev.vamana.graph;

import dev.vamana.vectors.PairDistances;
import java.io.IOException;

/**
 * Chooses diverse out-neighbours among candidates (DiskANN's RobustPrune): going from near to far,
 * a candidate is dropped when an already kept neighbour is alpha times nearer to it than the node
 * itself is.
 *
 * <p>Inner products do not scale, so with them alpha is 1; and a long vector is the nearest of most
 * others, so that few edges would be left. Rows are filled there with the nearest of those that
 * were dropped. On word vectors whose lengths differ 30-fold that takes recall@10 from 0.56 to 0.95
 * at a beam of 30.
 *
 * <p>Not thread-safe; each building thread has its own.
 */
final class RobustPrune {

  // Lucene's bulk scorers take four vectors at a time; a nearer kept neighbour usually decides
  // within the first few
  private static final int CHUNK = 4;

  private final PairDistances distances;
  private final boolean fill;
  private final float alpha;
  private final int[] chunk = new int[CHUNK];
  private final float[] chunkDistances = new float[CHUNK];
  private final int[] kept;
  private final int[] dropped;
  private final float[] keptDistances;

  RobustPrune(PairDistances distances, BuildParameters parameters) {
    this.distances = distances;
    this.fill = distances.scalable() == false;
    this.alpha = fill ? 1 : parameters.alpha();
    this.kept = new int[parameters.maxDegree()];
    this.dropped = new int[fill ? parameters.maxDegree() : 0];
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
    int droppedCount = 0;
    for (int i = 0; i < count && size < kept.length; i++) {
      int candidate = candidates[i];
      if (candidate == node) {
        continue;
      }
      if (occluded(candidate, candidateDistances[i], size)) {
        if (fill && droppedCount < dropped.length) {
          dropped[droppedCount++] = i;
        }
        continue;
      }
      kept[size] = candidate;
      keptDistances[size] = candidateDistances[i];
      size++;
    }
    for (int i = 0; i < droppedCount && size < kept.length; i++) {
      kept[size] = candidates[dropped[i]];
      keptDistances[size] = candidateDistances[dropped[i]];
      size++;
    }
    return size;
  }

  private boolean occluded(int candidate, float distance, int size) throws IOException {
    if (size > 0) {
      distances.pivot(candidate);
    }
    for (int from = 0; from < size; from += CHUNK) {
      int count = Math.min(CHUNK, size - from);
      System.arraycopy(kept, from, chunk, 0, count);
      distances.distances(chunk, chunkDistances, count);
      for (int i = 0; i < count; i++) {
        if (chunk[i] == candidate || alpha * chunkDistances[i] <= distance) {
          return true;
        }
      }
    }
    return false;
  }
}
