package dev.vamana.search;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.ScoreDoc;

/**
 * Searches batches on the CPU. It is the reference implementation of {@link SearchExecutor}, and
 * other executors fall back to its static methods.
 */
public final class CpuExecutor implements SearchExecutor {

  // lists of a search of width 1, and the power of the width by which they grow, as measured
  private static final double LISTS_OF_ONE = 8;
  private static final double LISTS_GROWTH = 0.65;

  private final Workers workers;

  /**
   * Makes an executor.
   *
   * @param workers threads among which the items of a batch are divided
   */
  public CpuExecutor(Workers workers) {
    this.workers = workers;
  }

  /**
   * How an item is answered. An executor that has settled the way asks for it, so that the answer
   * does not depend on who gives it.
   */
  public enum Way {
    /** By a scan. */
    SCAN,
    /** By a walk, or the search of the segment's own format, and by a scan if it misses hits. */
    WALK,
    /** By a walk that compares codes, and by a scan if it misses hits. */
    WALK_CODES,
    /** By a search of inverted lists. */
    LISTS
  }

  @Override
  public String name() {
    return "cpu";
  }

  @Override
  public List<WorkResult> search(List<WorkItem> batch) throws IOException {
    return search(batch, batch.stream().map(CpuExecutor::way).toList());
  }

  /**
   * Searches items, each in its own way.
   *
   * @param ways one for each item
   */
  public List<WorkResult> search(List<WorkItem> batch, List<Way> ways) throws IOException {
    return answer(batch, (item, i) -> search(item, ways.get(i)));
  }

  /** Answers one item of a batch. */
  @FunctionalInterface
  public interface Answer {
    /**
     * Answers an item, on any thread.
     *
     * @param i its number in the batch
     */
    WorkResult of(WorkItem item, int i) throws IOException;
  }

  /** Answers items, divided among the threads. */
  public List<WorkResult> answer(List<WorkItem> batch, Answer answer) throws IOException {
    WorkResult[] results = new WorkResult[batch.size()];
    AtomicInteger next = new AtomicInteger();
    List<WorkItem> items =
        Math.min(workers.threads(), results.length) > 1
            ? WorkItem.askedOneAtATime(batch, next)
            : batch;
    // one item at a time: an item takes much longer than to share it out
    workers.together(
        Math.max(1, results.length),
        () -> {
          int i;
          while ((i = next.getAndIncrement()) < results.length) {
            results[i] = answer.of(items.get(i), i);
          }
        });
    return Arrays.asList(results);
  }

  /** Searches one item on the calling thread, in a way. */
  public static WorkResult search(WorkItem item, Way way) throws IOException {
    return switch (way) {
      case SCAN -> scan(item);
      case WALK -> walk(item);
      case WALK_CODES -> walk(item.onCodes());
      case LISTS -> ListSearch.search(item);
    };
  }

  /** Searches one item on the calling thread. */
  public static WorkResult search(WorkItem item) throws IOException {
    return search(item, way(item));
  }

  /** Returns how the CPU searches an item without a plan. */
  public static Way way(WorkItem item) {
    if (item.segment().hasLists()) {
      return Way.LISTS;
    }
    return plansScan(item) ? Way.SCAN : Way.WALK;
  }

  private static WorkResult walk(WorkItem item) throws IOException {
    SegmentView.FormatSearch own = item.segment().formatSearch();
    WorkResult result = own == null ? ReferenceWalk.estimating(item).run() : own.search(item);
    return missesHits(item, result) ? scan(item) : result;
  }

  /**
   * Whether scoring all accepted vectors of the item's segment is faster than a walk. The same for
   * all executors, whose answers are alike.
   */
  public static boolean plansScan(WorkItem item) {
    return SearchPlan.scanBesideExecutor(item.segment(), beam(item), accepted(item));
  }

  private static int accepted(WorkItem item) {
    return Math.min(item.acceptedCount(), item.segment().size());
  }

  private static int beam(WorkItem item) {
    return Math.max(item.k(), item.walk().beamWidth());
  }

  /** The accepted vectors of an item that a search of inverted lists scores. */
  public enum ListPlan {
    /** All of them. */
    ALL,
    /** All vectors of the lists that are searched, without estimates: few are accepted. */
    ALL_OF_LISTS,
    /** Vectors that estimates do not rule out. */
    ESTIMATED
  }

  /** Returns how an item over inverted lists is searched. */
  public static ListPlan listPlan(WorkItem item) {
    int lists = item.segment().lists().shape().lists();
    int accepted = Math.min(item.acceptedCount(), item.segment().size());
    if (ListSearch.scans(lists, item.listWidth(), accepted)) {
      return ListPlan.ALL;
    }
    return ListSearch.isFew(lists, accepted) ? ListPlan.ALL_OF_LISTS : ListPlan.ESTIMATED;
  }

  /** Returns the expected number of distances of a walk for the item. */
  public static double expectedVisits(WorkItem item) {
    SegmentView segment = item.segment();
    int size = segment.size();
    int accepted = Math.max(1, accepted(item));
    double unfiltered = SearchPlan.visits(size, segment.meanDegree(), beam(item));
    return Math.min(size, unfiltered * size / accepted);
  }

  /**
   * Returns the number of inverted lists that an item is expected to search: more for wider
   * searches, and with a filter as many as a search that is wider by the share of vectors that are
   * not accepted. Crude: the number depends on how far the hits of a query are spread
   * (docs/internals/query-plans.md). The segment must have lists.
   */
  public static double expectedLists(WorkItem item) {
    double share = Math.max(1, accepted(item)) / (double) item.segment().size();
    double searched = LISTS_OF_ONE * Math.pow(item.listWidth() / share, LISTS_GROWTH);
    return Math.min(item.segment().lists().shape().lists(), searched);
  }

  /**
   * Whether a complete walk has to be followed by a scan: it returned fewer hits than the segment
   * has, or hits with negative inner products.
   */
  public static boolean missesHits(WorkItem item, WorkResult walked) throws IOException {
    return mayMissHits(item, walked)
        && (hasFewHits(item, walked)
            || item.segment().rawComparison() == null
            || ExactDistances.of(item.segment(), item.query())
                    .ranking()
                    .score(walked.ordinals()[walked.ordinals().length - 1])
                < 0);
  }

  /**
   * Whether {@link #missesHits} may be so, as far as the result alone tells: equal rounded scores
   * were made to descend, so that a score below that of the product 0 may have a positive product.
   */
  public static boolean mayMissHits(WorkItem item, WorkResult walked) {
    int last = walked.ordinals().length - 1;
    return walked.complete()
        && (hasFewHits(item, walked)
            || (last >= 0 && walked.scores()[last] < SearchPlan.unreliableBelow(item.segment())));
  }

  private static boolean hasFewHits(WorkItem item, WorkResult walked) {
    return walked.ordinals().length < Math.min(item.k(), accepted(item));
  }

  /** Scores all accepted vectors that may be hits, on the calling thread. */
  public static WorkResult scan(WorkItem item) throws IOException {
    ExactDistances exact = ExactDistances.of(item.segment(), item.query());
    return collect(
        item,
        exact,
        collector ->
            ListSearch.scan(
                item.segment(),
                item.query(),
                exact.ranking(),
                collector,
                beam(item),
                item.acceptedOrdinals(),
                accepted(item)));
  }

  /** Collects the hits of an item. */
  @FunctionalInterface
  interface Search {
    /** Hands ordinals with their ranking values to the collector. */
    void run(KnnCollector collector) throws IOException;
  }

  /** Returns what a search collects for an item. */
  static WorkResult collect(WorkItem item, ExactDistances exact, Search search) throws IOException {
    int k = Math.min(item.k(), item.segment().size());
    if (k == 0) {
      return new WorkResult(new int[0], new float[0], 0, true);
    }
    KnnCollector collector =
        new CancellableCollector(k, toInt(item.visitLimit()), item.cancelled());
    search.run(collector);
    ScoreDoc[] hits = collector.topDocs().scoreDocs;
    int[] ordinals = new int[hits.length];
    float[] scores = new float[hits.length];
    for (int i = 0; i < hits.length; i++) {
      ordinals[i] = hits[i].doc;
      scores[i] = -hits[i].score;
    }
    exact.toScores(scores);
    return new WorkResult(
        ordinals, scores, collector.visitedCount(), collector.earlyTerminated() == false);
  }

  /**
   * Scores candidates exactly on the calling thread and keeps the item's best k.
   *
   * @param candidates distinct accepted ordinals in any order
   * @param visited number of distances computed to find them
   * @param complete whether that search was complete
   */
  public static WorkResult rerank(WorkItem item, int[] candidates, long visited, boolean complete)
      throws IOException {
    return Rerank.exact(
        ExactDistances.of(item.segment(), item.query()), candidates, item.k(), visited, complete);
  }

  private static int toInt(long limit) {
    return (int) Math.min(Integer.MAX_VALUE, limit);
  }

  @Override
  public void close() {}
}
