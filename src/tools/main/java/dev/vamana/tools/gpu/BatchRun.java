package dev.vamana.tools.gpu;

import dev.vamana.search.QueryVector;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.callers.Callers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Times calls of an executor, from vectors in arrays to ordinals and scores in Java arrays.
 *
 * @param executor the executor to measure
 * @param view the segment to search
 * @param queries repeated to fill larger batches
 * @param k number of hits
 */
record BatchRun(SearchExecutor executor, SegmentView view, QueryVector[] queries, int k) {

  private static final int[] NO_ENTRY_POINTS = new int[0];
  private static final int LEAST_CALLS = 5;
  private static final int MOST_A_CALL = 1_000;

  /**
   * Makes a run with queries of floats.
   *
   * @param queries one vector per row
   */
  BatchRun(SearchExecutor executor, SegmentView view, float[][] queries, int k) {
    this(
        executor, view, Arrays.stream(queries).map(QueryVector::of).toArray(QueryVector[]::new), k);
  }

  /**
   * Returns queries per second of callers that each wait for their batch before they send the next.
   * There are always as many batches in progress as callers, so by Little's law the throughput is
   * their number divided by the mean time.
   */
  static double qps(int batch, int callers, double[] microseconds) {
    return batch * (double) callers * 1e6 / Arrays.stream(microseconds).average().orElseThrow();
  }

  /** Returns the ordinals of each query's hits. */
  int[][] hits(WalkParameters walk) throws IOException {
    int[][] hits = new int[queries.length][];
    for (int from = 0; from < queries.length; from += MOST_A_CALL) {
      int count = Math.min(MOST_A_CALL, queries.length - from);
      List<WorkResult> results = call(walk, from, count);
      for (int i = 0; i < count; i++) {
        hits[from + i] = results.get(i).ordinals();
      }
    }
    return hits;
  }

  /** Makes one call with {@code batch} queries, starting at a row. */
  List<WorkResult> call(WalkParameters walk, int from, int batch) throws IOException {
    WorkItem.Terms terms =
        new WorkItem.Terms(
            view, k, walk, null, view.size(), Long.MAX_VALUE, () -> false, NO_ENTRY_POINTS);
    List<WorkItem> items = new ArrayList<>(batch);
    for (int i = 0, at = from % queries.length; i < batch; i++) {
      items.add(new WorkItem(terms, queries[at]));
      at = at + 1 == queries.length ? 0 : at + 1;
    }
    return executor.search(items);
  }

  /**
   * Times calls by one or more threads, each of which sends its next call when the last one has
   * returned. Returns the microseconds of each call.
   *
   * @param seconds approximate duration
   */
  double[] time(WalkParameters walk, int batch, int callers, double seconds) throws IOException {
    return Callers.loop(
            callers,
            seconds,
            LEAST_CALLS,
            id ->
                number ->
                    call(walk, (int) ((id * 37L + (long) number * batch) % queries.length), batch))
        .micros();
  }
}
