package dev.vamana.elasticsearch.search;

import dev.vamana.elasticsearch.monitor.ShardFailures;
import dev.vamana.elasticsearch.monitor.recall.RecallSampler;
import dev.vamana.search.WalkChange;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.common.util.concurrent.ThrottledIterator;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.Rewriteable;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.indices.ExecutorSelector;
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

  private final SearchService service;
  private final ThreadPool threadPool;
  private final ExecutorSelector executors;
  private final Function<Executor, Workers> workers;
  private final DocFetcher fetcher;
  private final RecallSampler recall;

  /**
   * Makes the searches of a node.
   *
   * @param executors names the pools of system indices
   * @param workers makes the threads of a pool that one search may use
   */
  ShardSearches(
      SearchService service,
      ThreadPool threadPool,
      ExecutorSelector executors,
      Function<Executor, Workers> workers,
      RecallSampler recall,
      IdCache ids) {
    this.service = service;
    this.threadPool = threadPool;
    this.executors = executors;
    this.workers = workers;
    this.recall = recall;
    this.fetcher = new DocFetcher(service, ids);
  }

  /** Searches shards, and fetches the hits if the request asks for it. Returns at once. */
  void query(
      NodeQueryRequest request, BatchSearchTask task, ActionListener<NodeQueryResponse> listener) {
    task.start(request.query().vectors().count(), request.shards().size());
    BreakerCharge charge = new BreakerCharge(service.getCircuitBreaker());
    ActionListener.run(
        ActionListener.releaseAfter(listener, charge),
        answer -> {
          charge.add(request.query().vectors().ramBytesUsed());
          Rewriteable.rewriteAndFetch(
              request.query().filters(),
              service.getIndicesService().getDataRewriteContext(request.query()::nowMillis),
              threadPool.executor(ThreadPool.Names.SEARCH_COORDINATION),
              answer.delegateFailureAndWrap(
                  (next, filters) ->
                      new NodeSearch(request, request.query().with(filters), task, charge)
                          .start(next)));
        });
  }

  /** Fetches documents, on a thread of the shard's pool and others, and closes the reader. */
  void fetch(
      ShardFetchRequest request,
      BatchSearchTask task,
      ActionListener<ShardFetchRequest.Response> listener) {
    task.start(0, 1);
    BreakerCharge charge = new BreakerCharge(service.getCircuitBreaker());
    ActionListener<FetchedDocs> freeing =
        ActionListener.releaseAfter(
            ActionListener.runBefore(
                listener
                    .<FetchedDocs>map(ShardFetchRequest.Response::new)
                    .delegateResponse(
                        (next, failure) -> {
                          failIfCorrupt(request.target(), failure);
                          next.onFailure(failure);
                        }),
                () -> service.freeReaderContext(request.reader())),
            charge);
    ActionListener.run(
        freeing,
        answer -> {
          Executor pool = pool(shard(request.target().shardId()));
          pool.execute(
              ActionRunnable.wrap(
                  answer, next -> fetcher.fetch(request, task, charge, workers.apply(pool), next)));
        });
  }

  private void failIfCorrupt(ShardTarget target, Exception failure) {
    ShardFailures.failIfCorrupt(
        service.getIndicesService().getShardOrNull(target.shardId()), failure);
  }

  private IndexShard shard(ShardId id) {
    return service.getIndicesService().indexServiceSafe(id.getIndex()).getShard(id.id());
  }

  /** The pool that the server takes for searches of a shard. */
  private Executor pool(IndexShard shard) {
    return threadPool.executor(
        shard.isSystem()
            ? executors.executorForSearch(shard.shardId().getIndexName())
            : ThreadPool.Names.SEARCH);
  }

  /** The search of one request: some shards at a time, whose hits are merged as they come. */
  private final class NodeSearch {

    private final NodeQueryRequest request;
    private final ShardQuery query;
    private final BatchSearchTask task;
    private final BreakerCharge charge;
    private final AtomicReferenceArray<NodeQueryResponse.Outcome> outcomes;
    private final AtomicReference<Hits> merged = new AtomicReference<>();
    private final AtomicReference<FetchedDocs> fetched = new AtomicReference<>();
    private final AtomicReference<Exception> ownFailure = new AtomicReference<>();

    /** The hits of a shard, and its outcome if nothing fails any more. */
    private record Searched(Hits hits, NodeQueryResponse.Outcome outcome) {}

    NodeSearch(
        NodeQueryRequest request, ShardQuery query, BatchSearchTask task, BreakerCharge charge) {
      this.request = request;
      this.query = query;
      this.task = task;
      this.charge = charge;
      this.outcomes = new AtomicReferenceArray<>(request.shards().size());
    }

    void start(ActionListener<NodeQueryResponse> answer) {
      ThrottledIterator.run(
          IntStream.range(0, outcomes.length()).iterator(),
          (turn, i) -> ActionListener.run(taking(i, turn), done -> search(i, done)),
          request.mostTogether(),
          () -> ActionListener.completeWith(answer, this::response));
    }

    private ActionListener<NodeQueryResponse.Outcome> taking(int i, Releasable turn) {
      return ActionListener.releaseAfter(
          ActionListener.wrap(
              outcome -> outcomes.set(i, outcome),
              failure -> {
                failIfCorrupt(request.shards().get(i), failure);
                outcomes.set(i, NodeQueryResponse.Outcome.failed(failure));
              }),
          turn);
    }

    private void search(int i, ActionListener<NodeQueryResponse.Outcome> done) {
      Elapsed elapsed = Elapsed.now();
      ShardTarget target = request.shards().get(i);
      Executor pool = pool(shard(target.shardId()));
      service.openReaderContext(
          target.shardId(),
          TimeValue.timeValueMillis(service.getDefaultKeepAliveInMillis()),
          task,
          target.splits(),
          done.delegateFailureAndWrap(
              (next, reader) ->
                  pool.execute(
                      ActionRunnable.wrap(
                          next.delegateResponse(
                              (last, failure) -> {
                                service.freeReaderContext(reader);
                                last.onFailure(failure);
                              }),
                          last -> search(target, reader, workers.apply(pool), elapsed, last)))));
    }

    /** Searches a shard on this thread and others, and fetches its hits if that is asked for. */
    private void search(
        ShardTarget target,
        ShardSearchContextId reader,
        Workers threads,
        Elapsed elapsed,
        ActionListener<NodeQueryResponse.Outcome> done)
        throws IOException {
      Searched searched = search(target, reader, threads, elapsed);
      if (request.fetch() == null) {
        merge(searched.hits());
        done.onResponse(searched.outcome());
        return;
      }
      int[] docs = searched.hits().docs();
      charge.add(DistinctDocs.ramBytesUsed(docs.length));
      Elapsed fetching = Elapsed.now();
      fetcher.fetch(
          new ShardFetchRequest(
              target,
              reader,
              DistinctDocs.of(docs, docs.length).docs(),
              request.fetch(),
              query.nowMillis(),
              BatchInLog.numbers(query)),
          task,
          charge,
          threads,
          done.map(
              read -> {
                merge(searched.hits());
                fetched.set(read);
                service.freeReaderContext(reader);
                return searched.outcome().fetched(fetching.nanos());
              }));
    }

    /** Searches a shard; its hits are charged. */
    private Searched search(
        ShardTarget target, ShardSearchContextId reader, Workers threads, Elapsed elapsed)
        throws IOException {
      WalkChange ofIndex = WalkSettings.of(shard(target.shardId()).indexSettings().getSettings());
      ShardQuery ofShard = query.with(ofIndex);
      int vectors = query.vectors().count();
      long waited = elapsed.nanos();
      BooleanSupplier outOfTime = () -> elapsed.reached(query.timeout());
      try (BreakerCharge searching = new BreakerCharge(service.getCircuitBreaker());
          OpenShard shard = OpenShard.of(service, target.shardId(), reader, task);
          SearchCount count =
              SearchCount.begin(
                  service,
                  shard.reader().indexShard(),
                  target.standard(BatchInLog.source(query), null, query.nowMillis()),
                  vectors,
                  task)) {
        VectorSearch search =
            new VectorSearch(shard.searcher(), threads, task, searching, outOfTime);
        Hits hits = search(shard, target, ofShard, search);
        if (search.timedOut() && query.allowPartial() == false) {
          throw new SearchTimeoutException(
              new SearchShardTarget(null, target.shardId(), null), "Time exceeded");
        }
        Hits found = hits == null ? Hits.none(vectors) : hits;
        count.succeeded(found.docs().length);
        charge.add(found.ramBytesUsed());
        ShardProfile profile =
            new ShardProfile(
                search.searchedBy(),
                shard.searcher().getIndexReader().leaves().size(),
                found.docs().length,
                waited,
                elapsed.nanos() - waited,
                0);
        return new Searched(
            found,
            new NodeQueryResponse.Outcome(reader, search.timedOut(), hits != null, profile, null));
      }
    }

    /**
     * Merges the hits of a shard, which must not fail afterwards. If this fails, hits of other
     * shards may be missing, so the whole request fails.
     */
    private void merge(Hits found) {
      try {
        Hits.add(merged, found, query.k(), charge, task::ensureNotCancelled);
      } catch (RuntimeException e) {
        ownFailure.compareAndSet(null, e);
        throw e;
      }
    }

    /** Returns the hits, or null if the mapping of the index does not have the field. */
    private Hits search(
        OpenShard shard, ShardTarget target, ShardQuery ofShard, VectorSearch search)
        throws IOException {
      SearchExecutionContext context = shard.executionContext(query.nowMillis());
      try {
        if (context.getFieldType(query.field()) == null) {
          return null;
        }
        VectorQueries queries = VectorQueries.of(context, ofShard);
        if (queries == null) {
          return Hits.none(query.vectors().count());
        }
        VectorSearch.Queries filtered = queries.filteredBy(target.aliasFilter());
        Hits hits = search.search(target.number(), ofShard, filtered, queries.leastScore());
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

    /** Closes the readers that nothing will be fetched from. */
    private NodeQueryResponse response() throws Exception {
      Exception failure = ownFailure.get();
      Hits hits = merged.get() == null ? Hits.none(query.vectors().count()) : merged.get();
      BitSet winners = new BitSet();
      for (int shard : hits.shards()) {
        winners.set(shard);
      }
      List<NodeQueryResponse.Outcome> all = new ArrayList<>();
      for (int i = 0; i < outcomes.length(); i++) {
        NodeQueryResponse.Outcome outcome = outcomes.get(i);
        boolean wins = failure == null && winners.get(request.shards().get(i).number());
        if (wins == false && outcome.reader() != null) {
          service.freeReaderContext(outcome.reader());
          outcome = outcome.withoutReader();
        }
        all.add(outcome);
      }
      if (failure != null) {
        throw failure;
      }
      return new NodeQueryResponse(hits, all, fetched.get());
    }
  }
}
