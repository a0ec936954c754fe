package dev.vamana.search;

import org.apache.lucene.search.ByteVectorSimilarityQuery;
import org.apache.lucene.search.FloatVectorSimilarityQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.knn.KnnSearchStrategy;

/** Queries for all vectors above a score, which Lucene 10.5 makes in its own way. */
final class ThresholdQueries {
  private ThresholdQueries() {}

  static Query of(
      String field,
      QueryVector vector,
      float threshold,
      float decay,
      Query filter,
      KnnSearchStrategy strategy) {
    return vector.floats() != null
        ? new FloatVectorSimilarityQuery(field, vector.floats(), threshold, decay, filter, strategy)
        : new ByteVectorSimilarityQuery(field, vector.bytes(), threshold, decay, filter, strategy);
  }
}
