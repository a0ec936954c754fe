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
  private final float[] inverseNorms;
  private int pivot = -1;

  /**
   * Distances from scores.
   *
   * @param inverseNorms one divided by the norm of each vector, 0 for the zero vector, if the
   *     distances are negated inner products; otherwise null
   */
  PairDistances(
      UpdateableRandomVectorScorer scorer, ScoreToDistance conversion, float[] inverseNorms) {
    this.scorer = scorer;
    this.conversion = conversion;
    this.inverseNorms = inverseNorms;
  }

  /**
   * Whether the distances are squared Euclidean ones: never negative, 0 for equal vectors, and such
   * that a factor between two of them has the same meaning at every scale. Negated inner products
   * are not.
   */
  public boolean scalable() {
    return inverseNorms == null;
  }

  /**
   * A distance of the pivot as one that is {@link #scalable}: itself, or for a negated inner
   * product the squared Euclidean distance of the directions, 0 to 4; 0 if the pivot is the zero
   * vector, and 2 if only the other is.
   *
   * @param ordinal the other vector
   * @param distance its distance from the pivot
   */
  public float scaled(int ordinal, float distance) {
    if (inverseNorms == null) {
      return distance;
    }
    // the zero vector adds no direction to any other's neighbours, and takes none away
    return inverseNorms[pivot] == 0f
        ? 0f
        : Math.max(0f, 2f + 2f * distance * inverseNorms[pivot] * inverseNorms[ordinal]);
  }

  /**
   * Compares the lengths of two vectors where inner products are compared, as a comparator that
   * puts the longer first; elsewhere length does not matter, and all are equal.
   */
  public int longerFirst(int one, int other) {
    return inverseNorms == null ? 0 : Float.compare(shortness(one), shortness(other));
  }

  private float shortness(int ordinal) {
    // nothing is shorter than the zero vector, whose inverse norm is kept as 0
    return inverseNorms[ordinal] == 0f ? Float.POSITIVE_INFINITY : inverseNorms[ordinal];
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
