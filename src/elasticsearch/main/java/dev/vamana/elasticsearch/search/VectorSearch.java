package dev.vamana.elasticsearch.search;

import dev.vamana.search.BatchedKnn;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
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
 * Searches the queries of a batch in one shard. The node's executor, if there is one, searches all
 * queries at once; otherwise the threads of the pool search one query at a time, each as the
 * standard search does.
 */
final class VectorSearch {

  /** Queries that one thread takes at a time. */
  private static final int GRAIN = 8;

  /** Most bytes of a slice of queries and their unmerged hits. */
  private static final long SLICE_BYTES = 64L << 20;

  /** Approximate bytes of a query's objects without its vector. */
  private static final int QUERY_BYTES = 400;

  private final ContextIndexSearcher searcher;
  private final Workers threads;
  private final BatchSearchTask task;
  private final BreakerCharge charge;
  private final BooleanSupplier outOfTime;
  private volatile boolean timedOut;
  private String searchedBy = ShardProfile.THREADS;

  /** The queries of a batch. */
  interface Queries {

    /** Whether any query has a filter. */
    boolean filtered();

    /** Returns the group of a query; all queries of a group have the same filter. */
    int group(int number);

    /**
     * Makes a query.
     *
     * @throws IllegalArgumentException if its vector does not fit the field
     */
    Query of(int number) throws IOException;
  }

  /**
   * Makes a search.
   *
   * @param searcher used by several threads at the same time
   * @param task receives the progress; its cancellation ends the search
   * @param charge charged for the memory of the search, and afterwards for the hits
   * @param outOfTime whether to stop and return the hits so far
   */
  VectorSearch(
      ContextIndexSearcher searcher,
      Workers threads,
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
   * Finds the best documents of each query. Searches the queries in slices, so that the memory of
   * unmerged hits is bounded.
   *
   * @param shard number of the shard, which the hits get
   * @param leastScore minimum score of a hit; the queries apply it, too
   * @throws org.elasticsearch.tasks.TaskCancelledException if the task is cancelled
   * @throws org.elasticsearch.common.breaker.CircuitBreakingException if the breaker does not allow
   *     a slice or the hits
   */
  Hits search(int shard, ShardQuery query, Queries queries, float leastScore) throws IOException {
    int count = query.vectors().count();
    int most = Math.min(query.k(), searcher.getIndexReader().maxDoc());
    long room = Hits.Builder.ramBytesUsed(count, most);
    charge.add(room);
    Hits.Builder hits = new Hits.Builder(shard, count, most);
    int[] order = byGroup(queries, count);
    // without an executor, only the queries that threads search at the moment hold hits
    boolean together = ExecutorRegistry.current() != null;
    long searching = together ? 0 : threads.threads() * hitsBytes(query, queries);
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
    Hits built = hits.build();
    charge.release(room + building - built.ramBytesUsed());
    return built;
  }

  /** Sorts queries by filter, so that few slices evaluate each filter. */
  private static int[] byGroup(Queries queries, int count) {
    return IntStream.range(0, count)
        .boxed()
        .sorted(Comparator.comparingInt(queries::group))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /** Bytes of a query's hits in all segments before they are merged. */
  private long hitsBytes(ShardQuery query, Queries queries) {
    int hits =
        ExecutorSearch.hitsOfSegment(
            searcher.getIndexReader(), queries.filtered(), query.k(), query.numCandidates());
    return BatchedKnn.heldBytes(searcher.getIndexReader(), hits);
  }

  private void search(
      ShardQuery query, Queries queries, int[] numbers, float leastScore, Hits.Builder hits)
      throws IOException {
    task.ensureNotCancelled();
    Query[] slice = new Query[numbers.length];
    for (int i = 0; i < slice.length; i++) {
      slice[i] = queries.of(numbers[i]);
    }
    ExecutorSearch executor = ExecutorSearch.of(timedSearcher(), slice);
    if (executor == null) {
      threads.forEach(
          0,
          slice.length,
          GRAIN,
          () -> i -> searchOne(slice[i], query.k(), numbers[i], hits),
          AbortCheck.NEVER);
      return;
    }
    searchedBy = executor.name();
    ScoreDoc[][] found = executor.search(slice, query.k(), leastScore, query.walk());
    for (int i = 0; i < found.length; i++) {
      hits.add(numbers[i], found[i]);
    }
    task.ensureNotCancelled();
    timedOut = outOfTime.getAsBoolean();
    task.advance(slice.length);
  }

  /** Makes a searcher over the same reader whose timeout throws no exception. */
  private IndexSearcher timedSearcher() {
    IndexSearcher timed = new IndexSearcher(searcher.getIndexReader());
    timed.setQueryCache(searcher.getQueryCache());
    timed.setQueryCachingPolicy(searcher.getQueryCachingPolicy());
    timed.setTimeout(() -> task.isCancelled() || outOfTime.getAsBoolean());
    return timed;
  }

  private void searchOne(Query query, int k, int number, Hits.Builder hits) throws IOException {
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

  /** Name of the executor, or {@link ShardProfile#THREADS} if threads searched. */
  String searchedBy() {
    return searchedBy;
  }

  /** Whether time ran out before all queries were searched. */
  boolean timedOut() {
    return timedOut;
  }
}
