package dev.vamana.vectors;

import java.io.IOException;
import org.apache.lucene.util.hnsw.UpdateableRandomVectorScorer;

/**
 * Distances from one stored vector, the pivot, to others, as graph construction needs them: never
 * negative, 0 for equal vectors, and homogeneous, so that the alpha of robust prune has the same
 * meaning at every scale.
 *
 * <p>Not thread-safe; {@link PairDistanceFactory#create()} gives each thread its own.
 */
public final class PairDistances {

  private final UpdateableRandomVectorScorer scorer;
  private final ScoreToDistance conversion;
  private int pivot = -1;

  PairDistances(UpdateableRandomVectorScorer scorer, ScoreToDistance conversion) {
    this.scorer = scorer;
    this.conversion = conversion;
  }

  /** Makes the vector with this ordinal the one that distances are measured from. */
  public void pivot(int ordinal) throws IOException {
    pivot = ordinal;
    scorer.setScoringOrdinal(ordinal);
  }

  /**
   * Distances of several vectors at once.
   *
   * @param ordinals the vectors
   * @param distances receives {@code count} distances
   * @param count how many of {@code ordinals} to measure
   */
  public void distances(int[] ordinals, float[] distances, int count) throws IOException {
    scorer.bulkScore(ordinals, distances, count);
    conversion.convert(pivot, ordinals, distances, count);
  }
}
