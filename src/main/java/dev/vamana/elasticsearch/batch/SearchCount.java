package dev.vamana.elasticsearch.batch;

import java.io.IOException;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.index.search.stats.ShardSearchStats;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.search.internal.SearchContext;
import org.elasticsearch.search.internal.ShardSearchRequest;

/**
 * Counts a batch in the search statistics of a shard, each vector as one query. The queries are
 * current until this object is closed, and then done or failed. Each is credited with its share of
 * the batch's time.
 */
final class SearchCount implements Releasable {

  private final ShardSearchStats statistics;
  private final SearchContext context;
  private final int queries;
  private final long start = System.nanoTime();
  private boolean done;

  private SearchCount(ShardSearchStats statistics, SearchContext context, int queries) {
    this.statistics = statistics;
    this.context = context;
    this.queries = queries;
  }

  /**
   * Counts queries as started.
   *
   * @param request the request that the statistics attribute the queries to
   */
  static SearchCount begin(
      SearchService service, IndexShard shard, ShardSearchRequest request, int queries)
      throws IOException {
    SearchContext context = service.createSearchContext(request, SearchService.NO_TIMEOUT);
    SearchCount count = new SearchCount(shard.shardSearchStats(), context, queries);
    for (int i = 0; i < queries; i++) {
      count.statistics.onPreQueryPhase(context);
    }
    return count;
  }

  /** Marks the queries as answered. */
  void succeeded() {
    done = true;
  }

  @Override
  public void close() {
    long nanos = System.nanoTime() - start;
    for (int i = 0; i < queries; i++) {
      if (done) {
        statistics.onQueryPhase(context, nanos / queries);
      } else {
        statistics.onFailedQueryPhase(context);
      }
    }
    context.close();
  }
}
