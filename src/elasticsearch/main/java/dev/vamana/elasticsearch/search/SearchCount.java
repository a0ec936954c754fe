package dev.vamana.elasticsearch.search;

import java.io.IOException;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TotalHits;
import org.elasticsearch.common.lucene.search.TopDocsAndMaxScore;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.index.search.stats.ShardSearchStats;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.SearchOperationListener;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.search.internal.SearchContext;
import org.elasticsearch.search.internal.ShardSearchRequest;
import org.elasticsearch.tasks.CancellableTask;

/**
 * Counts a batch in the search statistics of a shard, each vector as one query. The queries are
 * current until this object is closed, and then done or failed. One of them stands for the batch:
 * it is credited with the time of all, and it is the one that the search slow log sees.
 */
final class SearchCount implements Releasable {

  private final ShardSearchStats statistics;
  private final SearchOperationListener all;
  private final SearchContext context;
  private final int queries;
  private final long start = System.nanoTime();
  private boolean done;

  private SearchCount(IndexShard shard, SearchContext context, int queries) {
    this.statistics = shard.shardSearchStats();
    this.all = shard.getSearchOperationListener();
    this.context = context;
    this.queries = queries;
  }

  /**
   * Counts queries as started.
   *
   * @param request the request that the statistics attribute the queries to
   * @param task the task of the search
   */
  static SearchCount begin(
      SearchService service,
      IndexShard shard,
      ShardSearchRequest request,
      int queries,
      CancellableTask task)
      throws IOException {
    SearchContext context = service.createSearchContext(request, SearchService.NO_TIMEOUT);
    context.setTask(task);
    SearchCount count = new SearchCount(shard, context, queries);
    count.all.onPreQueryPhase(context);
    for (int i = 1; i < queries; i++) {
      count.statistics.onPreQueryPhase(context);
    }
    return count;
  }

  /**
   * Marks the queries as answered.
   *
   * @param hits hits of all queries together
   */
  void succeeded(int hits) {
    done = true;
    context.addQueryResult();
    TopDocs found = new TopDocs(new TotalHits(hits, TotalHits.Relation.EQUAL_TO), new ScoreDoc[0]);
    context.queryResult().topDocs(new TopDocsAndMaxScore(found, Float.NaN), null);
  }

  @Override
  public void close() {
    long nanos = System.nanoTime() - start;
    for (int i = 0; i < queries; i++) {
      SearchOperationListener listener = i == 0 ? all : statistics;
      if (done) {
        listener.onQueryPhase(context, i == 0 ? nanos : 0);
      } else {
        listener.onFailedQueryPhase(context);
      }
    }
    context.close();
  }
}
