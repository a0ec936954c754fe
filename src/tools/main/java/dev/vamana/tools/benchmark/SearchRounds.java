package dev.vamana.tools.benchmark;

import dev.vamana.tools.cells.Curve;
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

/**
 * Measures searches of several indexes in turns. In each round and at each width, every index
 * answers all queries before the next width begins. Every figure is the median over rounds, so
 * other load on the machine affects all indexes and widths alike.
 *
 * @param widths beam widths, each at least {@link #K}
 * @param rounds timed passes of each index at each width
 * @param warmUpSeconds CPU seconds of untimed searches before the first round, per index
 * @param progress receives a line for each step
 */
record SearchRounds(
    VectorSet set, List<Integer> widths, int rounds, double warmUpSeconds, Progress progress) {

  /** Number of results that recall counts. */
  static final int K = 10;

  /** Queries sent before each timed pass, because the index before has filled the caches. */
  private static final int SETTLING_QUERIES = 50;

  private static final int WARM_UP_WIDTH = 40;

  /** Measures all indexes; returns queries per CPU second by recall, in the same order. */
  List<Curve> run(List<BuiltIndex> indexes) throws IOException {
    for (BuiltIndex index : indexes) {
      progress.say("warm up %s", index.name());
      long end = cpuNanos() + (long) (warmUpSeconds * 1e9);
      do {
        search(index, WARM_UP_WIDTH, set.queries().size());
      } while (cpuNanos() < end);
    }
    double[][][] speeds = new double[indexes.size()][widths.size()][rounds];
    double[][] recalls = new double[indexes.size()][widths.size()];
    Recall recall = new Recall(set, K);
    for (int round = 0; round < rounds; round++) {
      progress.say("search, round %d of %d", round + 1, rounds);
      for (int w = 0; w < widths.size(); w++) {
        for (int turn = 0; turn < indexes.size(); turn++) {
          int i = (round + turn) % indexes.size();
          search(indexes.get(i), widths.get(w), SETTLING_QUERIES);
          long start = cpuNanos();
          int[][] found = search(indexes.get(i), widths.get(w), set.queries().size());
          speeds[i][w][round] = found.length * 1e9 / (cpuNanos() - start);
          recalls[i][w] = recall.of(found);
        }
      }
    }
    List<Curve> curves = new ArrayList<>();
    for (int i = 0; i < indexes.size(); i++) {
      List<Curve.Point> points = new ArrayList<>();
      for (int w = 0; w < widths.size(); w++) {
        points.add(new Curve.Point(widths.get(w), recalls[i][w], Median.of(speeds[i][w])));
      }
      curves.add(new Curve(points));
    }
    return curves;
  }

  private static long cpuNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return threads.getCurrentThreadCpuTime();
  }

  /** Returns the hits of the first queries, at most so many. */
  private int[][] search(BuiltIndex index, int width, int most) throws IOException {
    int[][] found = new int[Math.min(most, set.queries().size())][K];
    for (int query = 0; query < found.length; query++) {
      index.searcher().search(query, width, found[query]);
    }
    for (int query = 0; query < found.length; query++) {
      found[query] = Arrays.stream(found[query]).filter(ordinal -> ordinal >= 0).toArray();
    }
    return found;
  }
}
