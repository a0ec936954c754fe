package dev.vamana.search;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.knn.KnnCollectorManager;
import org.apache.lucene.search.knn.KnnSearchStrategy;

/** A kNN query that counts the vectors visited by its graph searches. */
final class CountedQuery {

  private final Queue<KnnCollector> collectors = new ConcurrentLinkedQueue<>();
  private final Query query;

  CountedQuery(String field, QueryVector vector, int k, Query filter, KnnSearchStrategy strategy) {
    this.query =
        vector.floats() != null
            ? new KnnFloatVectorQuery(field, vector.floats(), k, filter, strategy) {
              @Override
              protected KnnCollectorManager getKnnCollectorManager(int k, IndexSearcher searcher) {
                return new Recording(super.getKnnCollectorManager(k, searcher));
              }
            }
            : new KnnByteVectorQuery(field, vector.bytes(), k, filter, strategy) {
              @Override
              protected KnnCollectorManager getKnnCollectorManager(int k, IndexSearcher searcher) {
                return new Recording(super.getKnnCollectorManager(k, searcher));
              }
            };
  }

  Query query() {
    return query;
  }

  /** Vectors visited in all segments and passes. */
  long visited() {
    return collectors.stream().mapToLong(KnnCollector::visitedCount).sum();
  }

  /** Number of searches of a segment. */
  int searches() {
    return collectors.size();
  }

  private final class Recording implements KnnCollectorManager {
    private final KnnCollectorManager in;

    Recording(KnnCollectorManager in) {
      this.in = in;
    }

    @Override
    public KnnCollector newCollector(
        int visitLimit, KnnSearchStrategy strategy, LeafReaderContext context) throws IOException {
      return record(in.newCollector(visitLimit, strategy, context));
    }

    @Override
    public KnnCollector newOptimisticCollector(
        int visitLimit, KnnSearchStrategy strategy, LeafReaderContext context, int k)
        throws IOException {
      return record(in.newOptimisticCollector(visitLimit, strategy, context, k));
    }

    @Override
    public boolean isOptimistic() {
      return in.isOptimistic();
    }

    private KnnCollector record(KnnCollector collector) {
      collectors.add(collector);
      return collector;
    }
  }
}
