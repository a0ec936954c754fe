package dev.vamana.search;

import dev.vamana.graph.Worklist;
import java.io.IOException;

/** Computes exact scores of candidates found with approximate distances (BANG, section 4.9). */
final class Rerank {

  private Rerank() {}

  /**
   * Scores the candidates and keeps the best.
   *
   * @param candidates distinct ordinals in any order
   * @param k most hits
   */
  static WorkResult exact(
      ExactDistances exact, int[] candidates, int k, long visited, boolean complete)
      throws IOException {
    float[] distances = new float[candidates.length];
    exact.distances(candidates, distances, candidates.length);
    Worklist best = new Worklist(k);
    for (int i = 0; i < candidates.length; i++) {
      best.insert(candidates[i], distances[i]);
    }
    int[] ordinals = new int[best.size()];
    float[] scores = new float[ordinals.length];
    for (int rank = 0; rank < ordinals.length; rank++) {
      ordinals[rank] = best.ordinal(rank);
      scores[rank] = best.distance(rank);
    }
    exact.toScores(scores);
    return new WorkResult(ordinals, scores, visited, complete);
  }
}
