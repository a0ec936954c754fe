package dev.vamana.vectors;

import java.io.IOException;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.hnsw.UpdateableRandomVectorScorer;

/**
 * Measures distances from one stored vector, the pivot, to other stored vectors, for graph
 * construction; smaller is nearer.
 *
 * <p>Not thread-safe; {@link PairDistanceFactory#create()} makes one for each thread.
 */
public final class PairDistances {

  private final UpdateableRandomVectorScorer scorer;
  private final ScoreToDistance conversion;
  private final float[] inverseNorms;
  // ordinals of the vectors, or null for all
  private final int[] members;
  private int[] translated = new int[64];
  private int pivot = -1;

  /**
   * Makes distances from scores.
   *
   * @param inverseNorms one divided by the norm of each vector, 0 for the zero vector, if the
   *     distances are negated inner products; null otherwise
   */
  PairDistances(
      UpdateableRandomVectorScorer scorer, ScoreToDistance conversion, float[] inverseNorms) {
    this(scorer, conversion, inverseNorms, null);
  }

  private PairDistances(
      UpdateableRandomVectorScorer scorer,
      ScoreToDistance conversion,
      float[] inverseNorms,
      int[] members) {
    this.scorer = scorer;
    this.conversion = conversion;
    this.inverseNorms = inverseNorms;
    this.members = members;
  }

  /** Returns the same distances, of vectors that are numbered as in an array of ordinals. */
  PairDistances among(int[] ordinals) {
    return new PairDistances(scorer, conversion, inverseNorms, ordinals);
  }

  private int ordinal(int vector) {
    return members == null ? vector : members[vector];
  }

  /**
   * Whether the distances are squared Euclidean: never negative, 0 for equal vectors, and
   * comparable by a factor such as alpha at every scale. Negated inner products are not scalable.
   */
  public boolean scalable() {
    return inverseNorms == null;
  }

  /**
   * Converts a distance from the pivot to a {@link #scalable} one. A squared Euclidean distance is
   * returned unchanged. For a negated inner product the result is the squared Euclidean distance of
   * the two unit vectors, 0 to 4; it is 0 if the pivot is the zero vector, and 2 if only the other
   * vector is.
   *
   * @param ordinal the other vector
   * @param distance its distance from the pivot
   */
  public float scaled(int ordinal, float distance) {
    if (inverseNorms == null) {
      return distance;
    }
    // the zero vector has no direction, so it must not prune other neighbours
    return inverseNorms[pivot] == 0f
        ? 0f
        : Math.max(0f, 2f + 2f * distance * inverseNorms[pivot] * inverseNorms[ordinal(ordinal)]);
  }

  /**
   * Compares the lengths of two vectors, longer first, as a comparator. Returns 0 unless distances
   * are negated inner products, since length matters only there.
   */
  public int longerFirst(int one, int other) {
    return inverseNorms == null
        ? 0
        : Float.compare(shortness(ordinal(one)), shortness(ordinal(other)));
  }

  private float shortness(int ordinal) {
    // the zero vector is the shortest, but its inverse norm is stored as 0
    return inverseNorms[ordinal] == 0f ? Float.POSITIVE_INFINITY : inverseNorms[ordinal];
  }

  /** Sets the pivot, the vector that distances are measured from. */
  public void pivot(int ordinal) throws IOException {
    pivot = ordinal(ordinal);
    scorer.setScoringOrdinal(pivot);
  }

  /**
   * Measures the distances of several vectors from the pivot.
   *
   * @param ordinals the vectors
   * @param distances receives {@code count} distances
   * @param count how many of {@code ordinals} to measure
   */
  public void distances(int[] ordinals, float[] distances, int count) throws IOException {
    int[] stored = members == null ? ordinals : translate(ordinals, count);
    scorer.bulkScore(stored, distances, count);
    conversion.convert(pivot, stored, distances, count);
  }

  private int[] translate(int[] vectors, int count) {
    translated = ArrayUtil.growNoCopy(translated, count);
    for (int i = 0; i < count; i++) {
      translated[i] = members[vectors[i]];
    }
    return translated;
  }
}
