package dev.vamana.search;

import dev.vamana.vectors.RawComparison;
import java.io.IOException;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Exact distances of one query, by which walks and scans order vectors: Lucene's negated score, or
 * the raw distance where scores are too coarse. For one thread.
 */
final class ExactDistances implements WalkDistances {

  private final RandomVectorScorer ranking;
  private final RawComparison comparison;

  private ExactDistances(RandomVectorScorer ranking, RawComparison comparison) {
    this.ranking = ranking;
    this.comparison = comparison;
  }

  /** Makes the distances of a query to the vectors of a segment. */
  static ExactDistances of(SegmentView segment, QueryVector query) throws IOException {
    RawComparison comparison = segment.rawComparison();
    RandomVectorScorer scorer = segment.scorer(query);
    return comparison == null
        ? new ExactDistances(scorer, null)
        : new ExactDistances(
            new RawRanking(
                scorer, (FloatVectorValues) segment.vectors(), query.floats(), comparison),
            comparison);
  }

  /** Returns a scorer whose higher values are better; its values are not always Lucene's scores. */
  RandomVectorScorer ranking() {
    return ranking;
  }

  @Override
  public void distances(int[] ordinals, float[] distances, int count) throws IOException {
    ranking.bulkScore(ordinals, distances, count);
    for (int i = 0; i < count; i++) {
      distances[i] = -distances[i];
    }
  }

  /**
   * Replaces distances by scores. If different distances round to the same score, each score is one
   * unit in the last place less than the one before, since Lucene orders equal scores by document.
   *
   * @param distances in ascending order
   */
  void toScores(float[] distances) {
    float lastDistance = Float.NaN;
    float lastScore = Float.POSITIVE_INFINITY;
    for (int i = 0; i < distances.length; i++) {
      float distance = distances[i];
      if (comparison == null) {
        distances[i] = -distance;
      } else if (distance == lastDistance) {
        distances[i] = lastScore;
      } else {
        distances[i] = Math.min(comparison.score(distance), Math.nextDown(lastScore));
      }
      lastDistance = distance;
      lastScore = distances[i];
    }
  }

  /** Negated raw distances. */
  private record RawRanking(
      RandomVectorScorer scorer, FloatVectorValues vectors, float[] query, RawComparison comparison)
      implements RandomVectorScorer {

    @Override
    public float score(int ordinal) throws IOException {
      return -comparison.distance(query, vectors.vectorValue(ordinal));
    }

    @Override
    public int maxOrd() {
      return scorer.maxOrd();
    }

    @Override
    public int ordToDoc(int ordinal) {
      return scorer.ordToDoc(ordinal);
    }

    @Override
    public Bits getAcceptOrds(Bits acceptDocs) {
      return scorer.getAcceptOrds(acceptDocs);
    }
  }
}
