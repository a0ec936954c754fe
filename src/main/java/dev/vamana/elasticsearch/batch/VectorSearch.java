package dev.vamana.elasticsearch.batch;

import dev.vamana.search.BatchedKnn;
import dev.vamana.search.ExecutorRegistry;
import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.elasticsearch.search.internal.ContextIndexSearcher;

/**
 * Searches the queries of a batch in one shard: all of them at once where the node has an executor
 * for that, or one at a time on the threads of the pool, each as the standard search does it.
 */
final class VectorSearch {

  /** Queries that one thread takes at a time. */
  private static final int GRAIN = 8;

  /** Memory that the queries of a slice may take until they have their hits. */
  private static final long SLICE_BYTES = 64L << 20;

  /** A query's objects without its vector, about. */
  private static final int QUERY_BYTES = 400;

  private final ContextIndexSearcher searcher;
  private final SearchThreads threads;
  private final BatchSearchTask task;
  private final BreakerCharge charge;
  private final BooleanSupplier outOfTime;
  private volatile boolean timedOut;

  /** The queries of a batch, made when they are asked for. */
  interface Queries {

    /** Whether any has a filter. */
    boolean filtered();

    /** Queries of one group have one filter. */
    int group(int number);

    /**
     * A fresh query.
     *
     * @throws IllegalArgumentException if its vector does not fit the field
     */
    Query of(int number) throws IOException;
  }

  /**
   * Makes a search.
   *
   * @param searcher used by several threads at a time
   * @param task told of the progress; its cancellation ends the search
   * @param charge charged for what the search holds, and after it for the hits
   * @param outOfTime whether what has been found has to do
   */
  VectorSearch(
      ContextIndexSearcher searcher,
      SearchThreads threads,
      BatchSearchTask task,
      BreakerCharge charge,
      BooleanSupplier outOfTime) {
    this.searcher = searcher;
    this.threads = threads;
    this.task = task;
    this.charge = charge;
    this.outOfTime = outOfTime;
  }

  /**
   * The best documents of each query. Queries are answered in slices, so that what they take until
   * their hits are known is bounded.
   *
   * @param leastScore of a hit, which the queries know too
   * @throws org.elasticsearch.tasks.TaskCancelledException if the task is cancelled
   * @throws org.elasticsearch.common.breaker.CircuitBreakingException if the breaker does not allow
   *     a slice or the hits
   */
  ShardHits search(ShardQuery query, Queries queries, float leastScore) throws IOException {
    int count = query.vectors().count();
    int most = Math.min(query.k(), searcher.getIndexReader().maxDoc());
    long room = ShardHits.Builder.ramBytesUsed(count, most);
    charge.add(room);
    ShardHits.Builder hits = new ShardHits.Builder(count, most);
    int[] order = byGroup(queries, count);
    // one at a time a query holds its hits only while a thread searches it
    boolean together = ExecutorRegistry.current() != null;
    long searching = together ? 0 : threads.most() * hitsBytes(query, queries);
    long bytesOfQuery =
        QUERY_BYTES
            + 2 * query.vectors().ramBytesUsed() / count
            + (together ? hitsBytes(query, queries) : 0);
    int slice = (int) Math.max(1, Math.min(count, SLICE_BYTES / bytesOfQuery));
    for (int from = 0; from < count && timedOut == false; from += slice) {
      int[] numbers = Arrays.copyOfRange(order, from, Math.min(count, from + slice));
      long bytes = numbers.length * bytesOfQuery + searching;
      charge.add(bytes);
      try {
        search(query, queries, numbers, leastScore, hits);
      } finally {
        charge.release(bytes);
      }
    }
    long building = hits.buildBytes();
    charge.add(building);
    ShardHits built = hits.build();
    charge.release(room + building - built.ramBytesUsed());
    return built;
  }

  /** Queries with one filter follow each other, so that few slices evaluate it. */
  private static int[] byGroup(Queries queries, int count) {
    return IntStream.range(0, count)
        .boxed()
        .sorted(Comparator.comparingInt(queries::group))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /** What the hits of a query take until those of all segments are merged. */
  private long hitsBytes(ShardQuery query, Queries queries) {
    int hits =
        ExecutorSearch.hitsOfSegment(
            searcher.getIndexReader(), queries.filtered(), query.k(), query.numCandidates());
    return BatchedKnn.heldBytes(searcher.getIndexReader(), hits);
  }

  private void search(
      ShardQuery query, Queries queries, int[] numbers, float leastScore, ShardHits.Builder hits)
      throws IOException {
    task.ensureNotCancelled();
    Query[] slice = new Query[numbers.length];
    for (int i = 0; i < slice.length; i++) {
      slice[i] = queries.of(numbers[i]);
    }
    ExecutorSearch executor = ExecutorSearch.of(timedSearcher(), query.field(), slice);
    if (executor == null) {
      threads.forEach(slice.length, GRAIN, i -> searchOne(slice[i], query.k(), numbers[i], hits));
      return;
    }
    ScoreDoc[][] found = executor.search(slice, query.k(), leastScore);
    for (int i = 0; i < found.length; i++) {
      hits.add(numbers[i], found[i]);
    }
    task.ensureNotCancelled();
    timedOut = outOfTime.getAsBoolean();
    task.advance(slice.length);
  }

  /** A searcher over the same reader that can be stopped without an exception. */
  private IndexSearcher timedSearcher() {
    IndexSearcher timed = new IndexSearcher(searcher.getIndexReader());
    timed.setQueryCache(searcher.getQueryCache());
    timed.setQueryCachingPolicy(searcher.getQueryCachingPolicy());
    timed.setTimeout(() -> task.isCancelled() || outOfTime.getAsBoolean());
    return timed;
  }

  private void searchOne(Query query, int k, int number, ShardHits.Builder hits)
      throws IOException {
    task.ensureNotCancelled();
    if (timedOut || outOfTime.getAsBoolean()) {
      timedOut = true;
      return;
    }
    hits.add(
        number,
        searcher.search(query, new TopScoreDocCollectorManager(k, null, Integer.MAX_VALUE))
            .scoreDocs);
    task.advance(1);
  }

  /** Whether the time was not enough for all queries. */
  boolean timedOut() {
    return timedOut;
  }
}
