package dev.vamana.vectors;

import java.io.IOException;
import org.apache.lucene.util.hnsw.UpdateableRandomVectorScorer;

/**
 * Distances from one stored vector, the pivot, to others, as graph construction needs them; smaller
 * is nearer.
 *
 * <p>Not thread-safe; {@link PairDistanceFactory#create()} gives each thread its own.
 */
public final class PairDistances {

  private final UpdateableRandomVectorScorer scorer;
  private final ScoreToDistance conversion;
  private final boolean scalable;
  private int pivot = -1;

  PairDistances(UpdateableRandomVectorScorer scorer, ScoreToDistance conversion, boolean scalable) {
    this.scorer = scorer;
    this.conversion = conversion;
    this.scalable = scalable;
  }

  /**
   * Whether the distances are squared Euclidean ones: never negative, 0 for equal vectors, and such
   * that a factor between two of them has the same meaning at every scale. Negated inner products
   * are not.
   */
  public boolean scalable() {
    return scalable;
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
