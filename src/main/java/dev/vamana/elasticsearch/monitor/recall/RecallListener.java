package dev.vamana.elasticsearch.monitor.recall;

import java.util.List;
import org.apache.lucene.search.ScoreDoc;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.index.shard.IndexEventListener;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.SearchOperationListener;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.dfs.DfsKnnResults;
import org.elasticsearch.search.internal.SearchContext;
import org.elasticsearch.search.vectors.KnnSearchBuilder;
import org.elasticsearch.search.vectors.KnnVectorQueryBuilder;

/**
 * Draws searches of an index and hands them to the node's {@link RecallMonitor}: the {@code knn}
 * section of a search, and a search whose whole query is a {@code knn} query. Called by the shard
 * after it has answered, on a search thread.
 */
public final class RecallListener implements SearchOperationListener, IndexEventListener {

  private final RecallMonitor monitor;
  private final RecallSampler sampler;
  private volatile double rate;

  private RecallListener(RecallMonitor monitor, double rate) {
    this.monitor = monitor;
    this.sampler = new RecallSampler(monitor);
    this.rate = rate;
  }

  /** Listens to an index that is being opened. */
  public static void register(IndexModule module, RecallMonitor monitor) {
    RecallListener listener =
        new RecallListener(monitor, RecallSettings.SAMPLE_RATE.get(module.getSettings()));
    module.addSearchOperationListener(listener);
    module.addIndexEventListener(listener);
    module.addSettingsUpdateConsumer(
        RecallSettings.SAMPLE_RATE, changed -> listener.rate = changed);
  }

  @Override
  public void beforeIndexShardClosed(ShardId id, IndexShard shard, Settings indexSettings) {
    monitor.forget(id);
  }

  @Override
  public void onDfsPhase(SearchContext context, long tookInNanos) {
    SearchSourceBuilder source = context.request().source();
    List<DfsKnnResults> results = context.dfsResult().knnResults();
    boolean searched =
        source != null
            && results != null
            && results.isEmpty() == false
            && results.size() == source.knnSearch().size();
    // only searches that can be sampled are counted: each of them has a query phase, too
    if (searched && sampler.drawn(rate)) {
      int number = sampler.turn(results.size());
      KnnSearchBuilder knn = source.knnSearch().get(number);
      KnnVectorQueryBuilder query = knn.toQueryBuilder();
      QueryBuilder alias = context.request().getAliasFilter().getQueryBuilder();
      if (alias != null) {
        query.addFilterQuery(alias);
      }
      sample(context, query, knn.k(), results.get(number).scoreDocs(), tookInNanos);
    }
  }

  @Override
  public void onQueryPhase(SearchContext context, long tookInNanos) {
    SearchSourceBuilder source = context.request().source();
    boolean plain =
        source != null
            && source.query() instanceof KnnVectorQueryBuilder
            && source.knnSearch().isEmpty()
            && context.sort() == null
            && context.collapse() == null
            && context.parsedPostFilter() == null
            && context.from() == 0
            && context.size() > 0
            && context.rescore().isEmpty()
            && context.scrollContext() == null
            && context.request().getAliasFilter().getQueryBuilder() == null;
    if (plain && sampler.drawn(rate)) {
      ScoreDoc[] hits = context.queryResult().topDocs().topDocs.scoreDocs;
      KnnVectorQueryBuilder query = (KnnVectorQueryBuilder) source.query();
      sample(context, query, context.size(), hits, tookInNanos);
    }
  }

  private void sample(
      SearchContext context,
      KnnVectorQueryBuilder builder,
      int k,
      ScoreDoc[] hits,
      long tookInNanos) {
    SearchExecutionContext execution = context.getSearchExecutionContext();
    if (execution.nestedLookup().getNestedParent(builder.getFieldName()) != null) {
      sampler.skip(context.indexShard(), Skipped.NESTED);
      return;
    }
    sampler.sample(
        context.indexShard(),
        context.searcher().getIndexReader(),
        () -> builder.toQuery(execution),
        context.indexShard().indexSettings().getHnswEarlyTermination(),
        k,
        hits,
        tookInNanos);
  }
}
