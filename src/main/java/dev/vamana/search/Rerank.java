package dev.vamana.search;

import dev.vamana.graph.Worklist;
import java.io.IOException;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

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
      RandomVectorScorer scorer, int[] candidates, int k, long visited, boolean complete)
      throws IOException {
    float[] scores = new float[candidates.length];
    scorer.bulkScore(candidates, scores, candidates.length);
    Worklist best = new Worklist(k);
    for (int i = 0; i < candidates.length; i++) {
      best.insert(candidates[i], -scores[i]);
    }
    int[] ordinals = new int[best.size()];
    float[] bestScores = new float[ordinals.length];
    for (int rank = 0; rank < ordinals.length; rank++) {
      ordinals[rank] = best.ordinal(rank);
      bestScores[rank] = -best.distance(rank);
    }
    return new WorkResult(ordinals, bestScores, visited, complete);
  }
}
