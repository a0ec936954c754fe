package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.elasticsearch.monitor.ShardFailures;
import dev.vamana.elasticsearch.monitor.ShardSearchers;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.CheckedFunction;
import org.elasticsearch.core.CheckedSupplier;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.index.shard.IndexEventListener;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.SearchOperationListener;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.dfs.DfsKnnResults;
import org.elasticsearch.search.internal.SearchContext;
import org.elasticsearch.search.vectors.KnnSearchBuilder;
import org.elasticsearch.search.vectors.KnnVectorQueryBuilder;

/**
 * Draws searches that have been answered, and hands them to the node's {@link RecallMonitor}: the
 * {@code knn} section of a search, a search whose whole query is a {@code knn} query, and batches.
 * Called on search threads. Never fails. Thread-safe.
 */
public final class RecallSampler implements SearchOperationListener, IndexEventListener {
  private static final Logger logger = LogManager.getLogger(RecallSampler.class);

  private static final String SOURCE = "vamana_recall";

  private final RecallMonitor monitor;
  private final AtomicLong asked = new AtomicLong();
  private final AtomicLong turns = new AtomicLong();

  /** Makes a sampler. */
  public RecallSampler(RecallMonitor monitor) {
    this.monitor = monitor;
  }

  /** Listens to an index that is being opened. */
  public void register(IndexModule module) {
    module.addSearchOperationListener(this);
    module.addIndexEventListener(this);
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
    if (searched && drawn(context.indexShard())) {
      int number = turn(results.size());
      KnnSearchBuilder knn = source.knnSearch().get(number);
      KnnVectorQueryBuilder query = knn.toQueryBuilder();
      QueryBuilder alias = context.request().getAliasFilter().getQueryBuilder();
      if (alias != null) {
        query.addFilterQuery(alias);
      }
      sample(context, query, knn.k(), results.get(number).scoreDocs());
    }
  }

  @Override
  public void onQueryPhase(SearchContext context, long tookInNanos) {
    SearchSourceBuilder source = context.request().source();
    if (source != null
        && source.query() instanceof KnnVectorQueryBuilder query
        && source.knnSearch().isEmpty()
        && context.sort() == null
        && context.collapse() == null
        && context.parsedPostFilter() == null
        && context.from() == 0
        && context.size() > 0
        && context.rescore().isEmpty()
        && context.scrollContext() == null
        && context.request().getAliasFilter().getQueryBuilder() == null
        && drawn(context.indexShard())) {
      sample(context, query, context.size(), context.queryResult().topDocs().topDocs.scoreDocs);
    }
  }

  private void sample(
      SearchContext context, KnnVectorQueryBuilder builder, int k, ScoreDoc[] hits) {
    SearchExecutionContext execution = context.getSearchExecutionContext();
    if (execution.nestedLookup().getNestedParent(builder.getFieldName()) != null) {
      monitor.skip(RecallMonitor.Skipped.UNSUPPORTED);
      return;
    }
    sample(
        context.indexShard(),
        context.searcher().getIndexReader(),
        () -> builder.toQuery(execution),
        k,
        hits);
  }

  /**
   * Samples one query of a batch, as often as the settings of the index say.
   *
   * @param seen the reader that was searched
   * @param count number of queries
   * @param query gives a query
   * @param k number of hits that were asked for
   * @param hits gives the answer to a query
   */
  public void batch(
      IndexShard shard,
      IndexReader seen,
      int count,
      CheckedFunction<Integer, Query, Exception> query,
      int k,
      IntFunction<ScoreDoc[]> hits) {
    if (count > 0 && drawn(shard)) {
      int number = turn(count);
      sample(shard, seen, () -> query.apply(number), k, hits.apply(number));
    }
  }

  /**
   * Whether the next search is to be sampled. Cheap. Of a rate of 0.25, every fourth search is
   * drawn; searches that come while the monitor works or rests do not count.
   */
  private boolean drawn(IndexShard shard) {
    if (monitor.ready() == false) {
      return false;
    }
    double rate = RecallSettings.SAMPLE_RATE.get(shard.indexSettings().getSettings());
    if (rate <= 0) {
      return false;
    }
    long number = asked.getAndIncrement();
    return (long) (number * rate) != (long) ((number + 1) * rate);
  }

  /** Takes turns among the queries of a request. */
  private int turn(int count) {
    return (int) (turns.getAndIncrement() % count);
  }

  private void sample(
      IndexShard shard,
      IndexReader seen,
      CheckedSupplier<Query, Exception> query,
      int k,
      ScoreDoc[] hits) {
    try {
      Engine.Searcher searcher = ShardSearchers.acquire(shard, SOURCE);
      if (searcher == null) {
        monitor.skip(RecallMonitor.Skipped.CLOSED);
        return;
      }
      RecallSample sample = null;
      try {
        RecallMonitor.Skipped reason = difference(seen, searcher);
        if (reason == null) {
          sample = RecallSample.of(shard, searcher, query.get(), k, hits);
        }
        if (sample == null) {
          monitor.skip(reason == null ? RecallMonitor.Skipped.UNSUPPORTED : reason);
        }
      } finally {
        if (sample == null) {
          searcher.close();
        }
      }
      if (sample != null) {
        monitor.offer(sample);
      }
    } catch (Exception e) {
      // the search has been answered; only its sample is lost
      ShardFailures.failIfCorrupt(shard, e);
      logger.debug("no sample of " + shard.shardId(), e);
      monitor.skip(RecallMonitor.Skipped.FAILED);
    }
  }

  /** Returns in which way a search saw other documents, or null. */
  private static RecallMonitor.Skipped difference(IndexReader seen, Engine.Searcher searcher) {
    DirectoryReader now = searcher.getDirectoryReader();
    if (seen instanceof DirectoryReader == false
        || ((DirectoryReader) seen).getVersion() != now.getVersion()) {
      return RecallMonitor.Skipped.CHANGED;
    }
    return seen.numDocs() == now.numDocs() ? null : RecallMonitor.Skipped.HIDDEN_DOCUMENTS;
  }
}
