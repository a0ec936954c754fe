package dev.vamana.tools.benchmark;

import dev.vamana.tools.cells.Median;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.Progress;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Measures searches of several indexes in turns. In each round and at each width, every index
 * answers all queries before the next width begins. Every figure is the median over rounds, so
 * other load on the machine affects all indexes and widths alike.
 */
final class SearchRounds {
  /** Number of results that recall counts. */
  static final int K = 10;

  /** Queries sent before each timed pass, because the index before has filled the caches. */
  private static final int SETTLING_QUERIES = 50;

  private static final int WARM_UP_WIDTH = 40;

  private final VectorSet set;
  private final Recall recall;
  private final List<Integer> widths;
  private final int rounds;
  private final double warmUpSeconds;
  private final Progress progress;
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

  /** One timed pass over all queries. */
  private record Pass(double qps, double p50Us, double p99Us, double visited, int[][] nearest) {}

  /**
   * Makes rounds of searches.
   *
   * @param widths beam widths, each at least {@link #K}
   * @param rounds timed passes of each index at each width
   * @param warmUpSeconds CPU seconds of untimed searches before the first round, per index
   * @param progress receives a line for each step
   */
  SearchRounds(
      VectorSet set, List<Integer> widths, int rounds, double warmUpSeconds, Progress progress) {
    this.set = set;
    this.recall = new Recall(set, K);
    this.widths = List.copyOf(widths);
    this.rounds = rounds;
    this.warmUpSeconds = warmUpSeconds;
    this.progress = progress;
  }

  /** Measures all indexes; returns their curves in the same order. */
  List<Curve> run(List<BuiltIndex> indexes) throws IOException {
    for (BuiltIndex index : indexes) {
      warmUp(index);
    }
    // [index][width], the passes of all rounds
    List<List<List<Pass>>> passes = new ArrayList<>();
    for (int i = 0; i < indexes.size(); i++) {
      passes.add(Stream.<List<Pass>>generate(ArrayList::new).limit(widths.size()).toList());
    }
    for (int round = 0; round < rounds; round++) {
      progress.say("search, round %d of %d", round + 1, rounds);
      for (int w = 0; w < widths.size(); w++) {
        for (int turn = 0; turn < indexes.size(); turn++) {
          int i = (round + turn) % indexes.size();
          passes.get(i).get(w).add(pass(indexes.get(i).searcher(), widths.get(w)));
        }
      }
    }
    List<Curve> curves = new ArrayList<>();
    for (int i = 0; i < indexes.size(); i++) {
      List<Curve.Point> points = new ArrayList<>();
      for (int w = 0; w < widths.size(); w++) {
        points.add(point(widths.get(w), passes.get(i).get(w)));
      }
      curves.add(new Curve(indexes.get(i).name(), points));
    }
    return curves;
  }

  private void warmUp(BuiltIndex index) throws IOException {
    progress.say("warm up %s", index.name());
    long end = threads.getCurrentThreadCpuTime() + (long) (warmUpSeconds * 1e9);
    int[] nearest = new int[K];
    do {
      for (int query = 0; query < set.queries().size(); query++) {
        index.searcher().search(query, WARM_UP_WIDTH, nearest);
      }
    } while (threads.getCurrentThreadCpuTime() < end);
  }

  private Pass pass(QuerySearcher searcher, int width) throws IOException {
    int count = set.queries().size();
    int[][] nearest = new int[count][K];
    long[] nanos = new long[count];
    for (int query = 0; query < Math.min(SETTLING_QUERIES, count); query++) {
      searcher.search(count - 1 - query, width, nearest[query]);
    }
    long visited = 0;
    long cpuStart = threads.getCurrentThreadCpuTime();
    long before = System.nanoTime();
    for (int query = 0; query < count; query++) {
      visited += searcher.search(query, width, nearest[query]);
      long after = System.nanoTime();
      nanos[query] = after - before;
      before = after;
    }
    double cpuSeconds = (threads.getCurrentThreadCpuTime() - cpuStart) * 1e-9;
    Arrays.sort(nanos);
    return new Pass(
        count / cpuSeconds,
        nanos[count / 2] * 1e-3,
        nanos[(int) (0.99 * (count - 1))] * 1e-3,
        visited / (double) count,
        nearest);
  }

  private Curve.Point point(int width, List<Pass> passes) {
    int[][] nearest = passes.get(0).nearest();
    int[][] found = new int[nearest.length][];
    for (int query = 0; query < found.length; query++) {
      found[query] = Arrays.stream(nearest[query]).filter(ordinal -> ordinal >= 0).toArray();
    }
    return new Curve.Point(
        width,
        recall.of(found),
        median(passes, Pass::qps),
        median(passes, Pass::p50Us),
        median(passes, Pass::p99Us),
        median(passes, Pass::visited));
  }

  private static double median(List<Pass> passes, ToDoubleFunction<Pass> figure) {
    return Median.of(passes.stream().mapToDouble(figure).toArray());
  }
}
