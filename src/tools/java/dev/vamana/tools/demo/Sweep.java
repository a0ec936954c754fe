package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Asks every query at several {@code num_candidates}, alternating between the indices. */
final class Sweep {

  /** Hits wanted of every query. */
  static final int K = 10;

  /** The {@code num_candidates} asked for, ascending. */
  static final List<Integer> CANDIDATES = List.of(10, 20, 50, 100, 200, 400, 800);

  /**
   * One index at one {@code num_candidates}.
   *
   * @param numCandidates what was asked for
   * @param recall recall@10
   * @param p50Millis median latency of one client, milliseconds
   * @param p99Millis 99th percentile of the latency of one client, milliseconds
   * @param hits ids of each query's hits, best first
   */
  record Point(
      int numCandidates, double recall, double p50Millis, double p99Millis, int[][] hits) {}

  private final DemoSet set;
  private final List<KnnIndex> indices;
  private final Progress progress;

  Sweep(DemoSet set, List<KnnIndex> indices, Progress progress) {
    this.set = set;
    this.indices = indices;
    this.progress = progress;
  }

  /** The points of each index, in the order of the indices and of {@link #CANDIDATES}. */
  List<List<Point>> run() throws IOException {
    List<List<Point>> points = new ArrayList<>();
    indices.forEach(index -> points.add(new ArrayList<>()));
    for (int numCandidates : CANDIDATES) {
      String what =
          "asking "
              + set.vectors().queries().size()
              + " queries at num_candidates "
              + numCandidates
              + " of both indices in turn";
      try (Progress.Running asking = progress.during(what)) {
        List<Point> found = ask(numCandidates);
        for (int i = 0; i < found.size(); i++) {
          Point point = found.get(i);
          points.get(i).add(point);
          progress.say(
              "  %s: recall@%d %.4f, p50 %.2f ms",
              indices.get(i).name(), K, point.recall(), point.p50Millis());
        }
      }
    }
    return points;
  }

  private List<Point> ask(int numCandidates) throws IOException {
    float[][] queries = set.vectors().queries().rows();
    int[][][] hits = new int[indices.size()][queries.length][];
    List<Latencies> latencies = indices.stream().map(index -> new Latencies()).toList();
    for (int q = 0; q < queries.length; q++) {
      String query = KnnIndex.query(queries[q], K, numCandidates);
      for (int turn = 0; turn < indices.size(); turn++) {
        // Whoever comes second finds the processor's caches as the first has left them.
        int i = (turn + q) % indices.size();
        long start = System.nanoTime();
        String answer = indices.get(i).ask(query);
        latencies.get(i).add(System.nanoTime() - start);
        hits[i][q] = KnnIndex.ids(answer);
      }
    }
    Recall recall = new Recall(set.vectors(), Math.min(K, set.vectors().base().size()));
    List<Point> points = new ArrayList<>();
    for (int i = 0; i < indices.size(); i++) {
      points.add(
          new Point(
              numCandidates,
              recall.of(hits[i]),
              latencies.get(i).quantileMillis(0.5),
              latencies.get(i).quantileMillis(0.99),
              hits[i]));
    }
    return points;
  }
}
