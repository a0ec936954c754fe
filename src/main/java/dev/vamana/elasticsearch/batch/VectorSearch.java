package dev.vamana.elasticsearch.batch;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopScoreDocCollectorManager;

/** Searches the queries of a batch in one shard. */
final class VectorSearch {

  /** Queries that one thread takes at a time. */
  private static final int GRAIN = 8;

  private static final ScoreDoc[] NO_HITS = new ScoreDoc[0];

  private final IndexSearcher searcher;
  private final SearchThreads threads;
  private final BatchSearchTask task;
  private final BooleanSupplier outOfTime;
  private volatile boolean timedOut;

  /**
   * Makes a search.
   *
   * @param searcher used by several threads at a time
   * @param task told of the progress; its cancellation ends the search
   * @param outOfTime whether what has been found has to do
   */
  VectorSearch(
      IndexSearcher searcher,
      SearchThreads threads,
      BatchSearchTask task,
      BooleanSupplier outOfTime) {
    this.searcher = searcher;
    this.threads = threads;
    this.task = task;
    this.outOfTime = outOfTime;
  }

  /**
   * The k best documents of each query.
   *
   * @throws org.elasticsearch.tasks.TaskCancelledException if the task is cancelled
   */
  ScoreDoc[][] search(Query[] queries, int k) throws IOException {
    ScoreDoc[][] hits = new ScoreDoc[queries.length][];
    threads.forEach(queries.length, GRAIN, i -> hits[i] = search(queries[i], k));
    return hits;
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

  /** Whether the time was not enough for all queries. */
  boolean timedOut() {
    return timedOut;
  }
}
