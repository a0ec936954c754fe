package dev.vamana.tools.gpu;

import dev.vamana.search.BatchedKnn;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import org.apache.lucene.search.IndexSearcher;

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
  private static final int MIN_SAMPLES = 5;

  /**
   * Makes a run with queries of floats.
   *
   * @param queries one vector per row
   */
  BatchRun(SearchExecutor executor, SegmentView view, float[][] queries, int k) {
    this(
        executor, view, Arrays.stream(queries).map(QueryVector::of).toArray(QueryVector[]::new), k);
  }

  /** Returns the ordinals of each query's hits, searched in batches of at most 1,000. */
  int[][] hits(WalkParameters walk) throws IOException {
    return hits(walk, 1_000, false);
  }

  /** Returns the ordinals of each query's hits, searched in calls of exactly so many queries. */
  int[][] hits(WalkParameters walk, int batch) throws IOException {
    return hits(walk, batch, true);
  }

  private int[][] hits(WalkParameters walk, int batch, boolean full) throws IOException {
    int[][] hits = new int[queries.length][];
    for (int from = 0; from < queries.length; from += batch) {
      int count = Math.min(batch, queries.length - from);
      // a call of more begins again with the first queries
      List<WorkResult> results = call(walk, from, full ? batch : count);
      for (int i = 0; i < count; i++) {
        hits[from + i] = results.get(i).ordinals();
      }
    }
    return hits;
  }

  /** Makes one call with {@code batch} queries, starting at a row. */
  List<WorkResult> call(WalkParameters walk, int from, int batch) throws IOException {
    return executor.search(items(walk, from, batch));
  }

  /** Returns the items of a call with {@code batch} queries, starting at a row. */
  List<WorkItem> items(WalkParameters walk, int from, int batch) {
    WorkItem.Terms terms =
        new WorkItem.Terms(
            view, k, walk, null, view.size(), Long.MAX_VALUE, () -> false, NO_ENTRY_POINTS);
    List<WorkItem> items = new ArrayList<>(batch);
    for (QueryVector query : vectors(from, batch)) {
      items.add(new WorkItem(terms, query));
    }
    return items;
  }

  /** Searches {@code batch} queries, starting at a row. */
  private interface Asking {
    void ask(int from, int batch) throws IOException;
  }

  /**
   * Times calls by one or more threads, each of which sends its next call when the last one has
   * returned.
   *
   * @param seconds approximate duration
   * @param most most samples to keep over all threads, evenly spread over the time
   * @return microseconds of each call
   */
  double[] time(WalkParameters walk, int batch, int callers, double seconds, int most)
      throws IOException, InterruptedException {
    return time((from, count) -> call(walk, from, count), batch, callers, seconds, most);
  }

  /**
   * Times calls of one thread that return Lucene's top docs.
   *
   * @param searcher searcher of an index whose only segment is {@code view}
   * @param most most samples to keep, evenly spread over the time
   * @return microseconds of each call
   */
  double[] timeTopDocs(
      IndexSearcher searcher, WalkParameters walk, int batch, double seconds, int most)
      throws IOException, InterruptedException {
    BatchedKnn knn = new BatchedKnn(searcher, executor);
    return time(
        (from, count) -> knn.search(SetIndex.FIELD, vectors(from, count), walk, k, null),
        batch,
        1,
        seconds,
        most);
  }

  private List<QueryVector> vectors(int from, int count) {
    List<QueryVector> vectors = new ArrayList<>(count);
    for (int i = 0, at = from % queries.length; i < count; i++) {
      vectors.add(queries[at]);
      at = at + 1 == queries.length ? 0 : at + 1;
    }
    return vectors;
  }

  private double[] time(Asking asking, int batch, int callers, double seconds, int most)
      throws IOException, InterruptedException {
    double[][] all = new double[callers][];
    CyclicBarrier start = new CyclicBarrier(callers);
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
    for (int caller = 1; caller < callers; caller++) {
      int id = caller;
      Thread thread =
          new Thread(
              () -> {
                try {
                  all[id] = caller(asking, batch, id, seconds, start);
                } catch (RuntimeException | Error e) {
                  failures.add(e);
                }
              },
              "caller-" + id);
      threads.add(thread);
      thread.start();
    }
    all[0] = caller(asking, batch, 0, seconds, start);
    for (Thread thread : threads) {
      thread.join();
    }
    if (failures.isEmpty() == false) {
      throw new IOException("a caller failed", failures.get(0));
    }
    return thin(Arrays.stream(all).flatMapToDouble(Arrays::stream).toArray(), most);
  }

  private double[] caller(Asking asking, int batch, int id, double seconds, CyclicBarrier start) {
    try {
      asking.ask(0, batch);
      start.await();
      List<Double> samples = new ArrayList<>();
      long begin = System.nanoTime();
      long end = begin + (long) (seconds * 1e9);
      long last = begin;
      int from = id * 37;
      while (last < end || samples.size() < MIN_SAMPLES) {
        asking.ask(from, batch);
        from = (from + batch) % queries.length;
        long now = System.nanoTime();
        samples.add((now - last) * 1e-3);
        last = now;
      }
      return samples.stream().mapToDouble(Double::doubleValue).toArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new IllegalStateException("callers were interrupted", e);
    }
  }

  static double[] thin(double[] samples, int most) {
    if (samples.length <= most) {
      return samples;
    }
    double[] kept = new double[most];
    for (int i = 0; i < most; i++) {
      kept[i] = samples[(int) ((long) i * samples.length / most)];
    }
    return kept;
  }
}
