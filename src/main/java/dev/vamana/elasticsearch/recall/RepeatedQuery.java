package dev.vamana.elasticsearch.recall;

import java.util.function.LongSupplier;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TopDocs;
import org.elasticsearch.search.vectors.ESKnnByteVectorQuery;
import org.elasticsearch.search.vectors.ESKnnFloatVectorQuery;

/**
 * A query that counts its distances. It is Elasticsearch's, since Lucene's never ends a walk before
 * its last candidate.
 *
 * @param query to be searched once
 * @param count number of distances that it computed
 */
record RepeatedQuery(Query query, LongSupplier count) {

  /** Makes the query of a sample with some number of candidates. */
  static RepeatedQuery of(RecallSample sample, int candidates) {
    if (sample.vector().floats() != null) {
      Floats floats = new Floats(sample, candidates);
      return new RepeatedQuery(floats, () -> floats.visited);
    }
    Bytes bytes = new Bytes(sample, candidates);
    return new RepeatedQuery(bytes, () -> bytes.visited);
  }

  /** Number of distances that the search computed. */
  long visited() {
    return count.getAsLong();
  }

  private static final class Floats extends ESKnnFloatVectorQuery {
    private long visited;

    Floats(RecallSample sample, int candidates) {
      super(
          sample.field(),
          sample.vector().floats(),
          sample.k(),
          candidates,
          sample.filter(),
          sample.strategy(),
          sample.endsEarly());
    }

    @Override
    protected TopDocs mergeLeafResults(TopDocs[] perLeaf) {
      TopDocs merged = super.mergeLeafResults(perLeaf);
      visited = merged.totalHits.value();
      return merged;
    }
  }

  private static final class Bytes extends ESKnnByteVectorQuery {
    private long visited;

    Bytes(RecallSample sample, int candidates) {
      super(
          sample.field(),
          sample.vector().bytes(),
          sample.k(),
          candidates,
          sample.filter(),
          sample.strategy(),
          sample.endsEarly());
    }

    @Override
    protected TopDocs mergeLeafResults(TopDocs[] perLeaf) {
      TopDocs merged = super.mergeLeafResults(perLeaf);
      visited = merged.totalHits.value();
      return merged;
    }
  }
}
