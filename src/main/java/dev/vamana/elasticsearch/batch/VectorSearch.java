package dev.vamana.elasticsearch.batch;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.elasticsearch.search.internal.ContextIndexSearcher;

/**
 * Searches the queries of a batch in one shard. The node's executor, if there is one, searches all
 * queries at once; otherwise the threads of the pool search one query at a time, each as the
 * standard search does.
 */
final class VectorSearch {

  /** Queries that one thread takes at a time. */
  private static final int GRAIN = 8;

  private static final ScoreDoc[] NO_HITS = new ScoreDoc[0];

  private final ContextIndexSearcher searcher;
  private final SearchThreads threads;
  private final BatchSearchTask task;
  private final BooleanSupplier outOfTime;
  private volatile boolean timedOut;

  /**
   * Makes a search.
   *
   * @param searcher used by several threads at the same time
   * @param task receives the progress; its cancellation ends the search
   * @param outOfTime whether to stop and return the hits so far
   */
  VectorSearch(
      ContextIndexSearcher searcher,
      SearchThreads threads,
      BatchSearchTask task,
      BooleanSupplier outOfTime) {
    this.searcher = searcher;
    this.threads = threads;
    this.task = task;
    this.outOfTime = outOfTime;
  }

  /**
   * Finds the best documents of each query.
   *
   * @param leastScore minimum score of a hit; the queries apply it, too
   * @throws org.elasticsearch.tasks.TaskCancelledException if the task is cancelled
   */
  ScoreDoc[][] search(ShardQuery query, Query[] queries, float leastScore) throws IOException {
    IndexSearcher timed = timedSearcher();
    ExecutorSearch executor = ExecutorSearch.of(timed, query.field(), queries);
    if (executor == null) {
      ScoreDoc[][] hits = new ScoreDoc[queries.length][];
      threads.forEach(queries.length, GRAIN, i -> hits[i] = search(queries[i], query.k()));
      return hits;
    }
    ScoreDoc[][] hits = executor.search(queries, query.k(), leastScore);
    task.ensureNotCancelled();
    timedOut = outOfTime.getAsBoolean();
    task.advance(queries.length);
    return hits;
  }

  /** Makes a searcher over the same reader whose timeout throws no exception. */
  private IndexSearcher timedSearcher() {
    IndexSearcher timed = new IndexSearcher(searcher.getIndexReader());
    timed.setQueryCache(searcher.getQueryCache());
    timed.setQueryCachingPolicy(searcher.getQueryCachingPolicy());
    timed.setTimeout(() -> task.isCancelled() || outOfTime.getAsBoolean());
    return timed;
  }

  private ScoreDoc[] search(Query query, int k) throws IOException {
    task.ensureNotCancelled();
    if (timedOut || outOfTime.getAsBoolean()) {
      timedOut = true;
      return NO_HITS;
    }
    ScoreDoc[] hits =
        searcher.search(query, new TopScoreDocCollectorManager(k, null, Integer.MAX_VALUE))
            .scoreDocs;
    task.advance(1);
    return hits;
  }

  /** Whether time ran out before all queries were searched. */
  boolean timedOut() {
    return timedOut;
  }
}
