package dev.vamana.elasticsearch.batch;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.apache.lucene.search.ScoreDoc;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.Rewriteable;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.search.SearchShardTarget;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.search.query.SearchTimeoutException;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Searches the shards of this node and fetches documents from them.
 *
 * <p>The {@link SearchService} opens, keeps and closes the readers, as it does for points in time:
 * it applies the wrappers that protect the index, counts readers as open contexts, binds them to
 * the user who opened them, and closes them with their index or after the keep-alive time. A search
 * of one shard fetches documents in the same request. A search of several shards leaves the readers
 * open until the coordinating node has merged the hits, since reading the k hits of every shard
 * would multiply the work by the number of shards.
 */
final class ShardSearches {

  /** The checkpoint of a search that waits for no operation to become visible. */
  static final long NO_CHECKPOINT = -2;

  private static final ScoreDoc[] NO_HITS = new ScoreDoc[0];

  private final SearchService service;
  private final ThreadPool threadPool;
  private final SearchThreads threads;
  private final DocFetcher fetcher;

  ShardSearches(SearchService service, ThreadPool threadPool, SearchThreads threads) {
    this.service = service;
    this.threadPool = threadPool;
    this.threads = threads;
    this.fetcher = new DocFetcher(service, threads);
  }

  /** Searches a shard, and fetches the hits if the request asks for it. Returns at once. */
  void query(
      ShardQueryRequest request, BatchSearchTask task, ActionListener<ShardQueryResponse> answer) {
    task.start(request.query().vectors().count(), 1);
    BooleanSupplier outOfTime = outOfTime(request.query().timeout());
    Rewriteable.rewriteAndFetch(
        request.query().filters(),
        service.getIndicesService().getDataRewriteContext(request.query()::nowMillis),
        searchPool(),
        answer.delegateFailureAndWrap(
            (next, filters) ->
                open(
                    request.target(),
                    task,
                    next.delegateFailureAndWrap(
                        (last, reader) ->
                            queryReader(reader, request, filters, task, outOfTime, last)))));
  }

  /** Fetches documents and closes the reader. Returns at once. */
  void fetch(
      ShardFetchRequest request, BatchSearchTask task, ActionListener<ShardFetchResponse> answer) {
    task.start(0, 1);
    BreakerCharge charge = new BreakerCharge(service.getCircuitBreaker());
    ActionListener<ShardFetchResponse> freeing =
        ActionListener.releaseAfter(
            ActionListener.runBefore(answer, () -> service.freeReaderContext(request.reader())),
            charge);
    searchPool()
        .execute(
            ActionRunnable.wrap(
                freeing,
                next -> fetcher.fetch(request, task, charge, next.map(ShardFetchResponse::new))));
  }

  private BooleanSupplier outOfTime(TimeValue timeout) {
    if (timeout == null || timeout.millis() < 0) {
      return () -> false;
    }
    long end = threadPool.relativeTimeInMillis() + timeout.millis();
    return () -> threadPool.relativeTimeInMillis() - end > 0;
  }

  private Executor searchPool() {
    return threadPool.executor(ThreadPool.Names.SEARCH);
  }

  private void open(
      ShardRequest.ShardTarget target,
      BatchSearchTask task,
      ActionListener<ShardSearchContextId> answer) {
    TimeValue keepAlive = TimeValue.timeValueMillis(service.getDefaultKeepAliveInMillis());
    service.openReaderContext(target.shardId(), keepAlive, task, target.splits(), answer);
  }

  private void queryReader(
      ShardSearchContextId reader,
      ShardQueryRequest request,
      QueryFilters filters,
      BatchSearchTask task,
      BooleanSupplier outOfTime,
      ActionListener<ShardQueryResponse> answer) {
    BreakerCharge charge = new BreakerCharge(service.getCircuitBreaker());
    ActionListener<ShardQueryResponse> closing =
        ActionListener.releaseAfter(
            ActionListener.wrap(
                response -> {
                  if (response.reader() == null) {
                    service.freeReaderContext(reader);
                  }
                  answer.onResponse(response);
                },
                failure -> {
                  service.freeReaderContext(reader);
                  answer.onFailure(failure);
                }),
            charge);
    searchPool()
        .execute(
            ActionRunnable.wrap(
                closing,
                next -> {
                  charge.add(memoryOf(request.query()));
                  ShardQueryResponse found =
                      search(
                          reader, request.target(), request.query().with(filters), task, outOfTime);
                  if (request.fetch() == null) {
                    next.onResponse(found);
                    return;
                  }
                  ShardFetchRequest fetch =
                      new ShardFetchRequest(
                          request.target(),
                          reader,
                          found.hits().distinctDocs(),
                          request.fetch(),
                          request.query().nowMillis());
                  fetcher.fetch(fetch, task, charge, next.map(found::with));
                }));
  }

  /**
   * Memory of a query. Several shards of this node may receive the same vectors or copies; each
   * counts them in full.
   */
  private static long memoryOf(ShardQuery query) {
    long hits = (long) query.vectors().count() * query.k();
    return query.vectors().ramBytesUsed() + hits * ShardHits.BYTES_A_HIT;
  }

  private ShardQueryResponse search(
      ShardSearchContextId reader,
      ShardRequest.ShardTarget target,
      ShardQuery query,
      BatchSearchTask task,
      BooleanSupplier outOfTime)
      throws IOException {
    int vectors = query.vectors().count();
    try (OpenShard shard = OpenShard.of(service, target.shardId(), reader, task);
        SearchCount count =
            SearchCount.begin(
                service,
                shard.reader().indexShard(),
                target.standard(null, null, query.nowMillis()),
                vectors)) {
      VectorSearch search = new VectorSearch(shard.searcher(), threads, task, outOfTime);
      ScoreDoc[][] hits = search(shard, target, query, search);
      if (search.timedOut() && query.allowPartial() == false) {
        throw new SearchTimeoutException(
            new SearchShardTarget(null, target.shardId(), null), "Time exceeded");
      }
      count.succeeded();
      return new ShardQueryResponse(ShardHits.of(hits), search.timedOut(), reader, null);
    }
  }

  private static ScoreDoc[][] search(
      OpenShard shard, ShardRequest.ShardTarget target, ShardQuery query, VectorSearch search)
      throws IOException {
    SearchExecutionContext context = shard.executionContext(query.nowMillis());
    try {
      VectorQueries queries = VectorQueries.of(context, query);
      if (queries == null) {
        ScoreDoc[][] none = new ScoreDoc[query.vectors().count()][];
        Arrays.fill(none, NO_HITS);
        return none;
      }
      return search.search(query, queries.all(target.aliasFilter()), queries.leastScore());
    } finally {
      context.releaseQueryConstructionMemory();
    }
  }
}
