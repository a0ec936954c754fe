package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.search.QueryVector;
import org.apache.lucene.search.Query;
import org.elasticsearch.search.profile.query.QueryProfiler;
import org.elasticsearch.search.vectors.ESKnnByteVectorQuery;
import org.elasticsearch.search.vectors.ESKnnFloatVectorQuery;
import org.elasticsearch.search.vectors.QueryProfilerProvider;

/**
 * A query that counts its distances. It is Elasticsearch's, since Lucene's never ends a walk before
 * its last candidate.
 *
 * @param query to be searched once
 * @param counter the same query, asked for its number of distances
 */
record RepeatedQuery(Query query, QueryProfilerProvider counter) {

  /** Makes the query of a sample with some number of candidates. */
  static RepeatedQuery of(RecallSample sample, int candidates) {
    QueryVector vector = sample.vector();
    if (vector.floats() != null) {
      ESKnnFloatVectorQuery floats =
          new ESKnnFloatVectorQuery(
              sample.field(),
              vector.floats(),
              sample.k(),
              candidates,
              sample.filter(),
              sample.strategy(),
              sample.endsEarly());
      return new RepeatedQuery(floats, floats);
    }
    ESKnnByteVectorQuery bytes =
        new ESKnnByteVectorQuery(
            sample.field(),
            vector.bytes(),
            sample.k(),
            candidates,
            sample.filter(),
            sample.strategy(),
            sample.endsEarly());
    return new RepeatedQuery(bytes, bytes);
  }

  /** Number of distances that the search computed. */
  long visited() {
    QueryProfiler profiler = new QueryProfiler();
    counter.profile(profiler);
    return profiler.getVectorOpsCount();
  }
}
