package dev.vamana.elasticsearch.search;

import dev.vamana.elasticsearch.monitor.ShardFailures;
import dev.vamana.elasticsearch.monitor.recall.RecallSampler;
import dev.vamana.search.WalkChange;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
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

  private final SearchService service;
  private final ThreadPool threadPool;
  private final SearchThreads threads;
  private final DocFetcher fetcher;
  private final RecallSampler recall;

  ShardSearches(
      SearchService service,
      ThreadPool threadPool,
      SearchThreads threads,
      RecallSampler recall,
      IdCache ids) {
    this.service = service;
    this.threadPool = threadPool;
    this.threads = threads;
    this.recall = recall;
    this.fetcher = new DocFetcher(service, threads, ids);
  }

  /** Searches a shard, and fetches the hits if the request asks for it. Returns at once. */
  void query(
      ShardQueryRequest request,
      BatchSearchTask task,
      ActionListener<ShardQueryResponse> listener) {
    ActionListener<ShardQueryResponse> answer = failing(request.target(), listener);
    task.start(request.query().vectors().count(), 1);
    Elapsed elapsed = Elapsed.now();
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
                            queryReader(reader, request, filters, task, elapsed, last)))));
  }

  /** Fetches documents, on this thread and others, and closes the reader. */
  void fetch(
      ShardFetchRequest request,
      BatchSearchTask task,
      ActionListener<ShardFetchResponse> listener) {
    ActionListener<ShardFetchResponse> answer = failing(request.target(), listener);
    task.start(0, 1);
    BreakerCharge charge = new BreakerCharge(service.getCircuitBreaker());
    ActionListener<ShardFetchResponse> freeing =
        ActionListener.releaseAfter(
            ActionListener.runBefore(answer, () -> service.freeReaderContext(request.reader())),
            charge);
    ActionListener.run(
        freeing, next -> fetcher.fetch(request, task, charge, next.map(ShardFetchResponse::new)));
  }

  /** Makes a listener that fails a shard of this node if its files are corrupt. */
  private <T> ActionListener<T> failing(
      ShardRequest.ShardTarget target, ActionListener<T> listener) {
    return listener.delegateResponse(
        (next, failure) -> {
          ShardFailures.failIfCorrupt(
              service.getIndicesService().getShardOrNull(target.shardId()), failure);
          next.onFailure(failure);
        });
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
      Elapsed elapsed,
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
                  // several shards of this node may share the vectors or have copies; each
                  // counts them in full
                  charge.add(request.query().vectors().ramBytesUsed());
                  ShardQueryResponse found =
                      search(reader, request, filters, task, charge, elapsed);
                  if (request.fetch() == null) {
                    next.onResponse(found);
                    return;
                  }
                  charge.add(DistinctDocs.ramBytesUsed(found.hits().docs().length));
                  ShardFetchRequest fetch =
                      new ShardFetchRequest(
                          request.target(),
                          reader,
                          found.hits().distinctDocs(),
                          request.fetch(),
                          request.query().nowMillis(),
                          BatchSummary.of(request.query()));
                  Elapsed fetching = Elapsed.now();
                  fetcher.fetch(
                      fetch, task, charge, next.map(docs -> found.with(docs, fetching.nanos())));
                }));
  }

  private ShardQueryResponse search(
      ShardSearchContextId reader,
      ShardQueryRequest request,
      QueryFilters filters,
      BatchSearchTask task,
      BreakerCharge charge,
      Elapsed elapsed)
      throws IOException {
    ShardRequest.ShardTarget target = request.target();
    WalkChange ofIndex =
        WalkSettings.of(
            service
                .getIndicesService()
                .indexServiceSafe(target.shardId().getIndex())
                .getIndexSettings()
                .getSettings());
    ShardQuery query = request.query().with(filters).with(ofIndex);
    int vectors = query.vectors().count();
    long waited = elapsed.nanos();
    BooleanSupplier outOfTime = () -> elapsed.reached(query.timeout());
    try (OpenShard shard = OpenShard.of(service, target.shardId(), reader, task);
        SearchCount count =
            SearchCount.begin(
                service,
                shard.reader().indexShard(),
                target.standard(BatchInLog.source(BatchSummary.of(query)), null, query.nowMillis()),
                vectors,
                task)) {
      VectorSearch search = new VectorSearch(shard.searcher(), threads, task, charge, outOfTime);
      ShardHits hits = search(shard, target, query, search);
      if (search.timedOut() && query.allowPartial() == false) {
        throw new SearchTimeoutException(
            new SearchShardTarget(null, target.shardId(), null), "Time exceeded");
      }
      boolean mapped = hits != null;
      ShardHits found = mapped ? hits : ShardHits.none(vectors);
      count.succeeded(found.docs().length);
      ShardProfile profile =
          new ShardProfile(
              search.searchedBy(),
              shard.searcher().getIndexReader().leaves().size(),
              found.docs().length,
              waited,
              elapsed.nanos() - waited,
              0);
      return new ShardQueryResponse(found, search.timedOut(), reader, null, mapped, profile);
    }
  }

  /** Returns the hits, or null if the mapping of the index does not have the field. */
  private ShardHits search(
      OpenShard shard, ShardRequest.ShardTarget target, ShardQuery query, VectorSearch search)
      throws IOException {
    SearchExecutionContext context = shard.executionContext(query.nowMillis());
    try {
      if (context.getFieldType(query.field()) == null) {
        return null;
      }
      VectorQueries queries = VectorQueries.of(context, query);
      if (queries == null) {
        return ShardHits.none(query.vectors().count());
      }
      VectorSearch.Queries filtered = queries.filteredBy(target.aliasFilter());
      ShardHits hits = search.search(query, filtered, queries.leastScore());
      if (search.timedOut() == false && query.exact() == false) {
        recall.batch(
            shard.reader().indexShard(),
            shard.searcher().getIndexReader(),
            query.vectors().count(),
            filtered::of,
            query.k(),
            hits::of);
      }
      return hits;
    } finally {
      context.releaseQueryConstructionMemory();
    }
  }
}
