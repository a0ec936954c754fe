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

  private static final int BLOCK = 250;

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
    int queries = set.vectors().queries().size();
    List<List<Answers>> answers = new ArrayList<>();
    for (int i = 0; i < indices.size(); i++) {
      answers.add(CANDIDATES.stream().map(any -> new Answers(queries)).toList());
    }
    String what = "asking both indices in turn at num_candidates " + CANDIDATES;
    try (Progress.Running asking = progress.during(what)) {
      // In blocks, so that whatever else the machine does meets every num_candidates alike.
      for (int from = 0; from < queries; from += BLOCK) {
        int to = Math.min(from + BLOCK, queries);
        for (int width = 0; width < CANDIDATES.size(); width++) {
          ask(from, to, width, answers);
        }
        progress.say("  asked %d of %d queries", to, queries);
      }
    }
    return points(answers);
  }

  private void ask(int from, int to, int width, List<List<Answers>> answers) throws IOException {
    for (int q = from; q < to; q++) {
      float[] vector = set.vectors().queries().rows()[q];
      String query = KnnIndex.query(vector, K, CANDIDATES.get(width));
      for (int turn = 0; turn < indices.size(); turn++) {
        // Whoever comes second finds the processor's caches as the first has left them.
        int i = (turn + q) % indices.size();
        long start = System.nanoTime();
        String answer = indices.get(i).ask(query);
        Answers of = answers.get(i).get(width);
        of.latencies.add(System.nanoTime() - start);
        of.hits[q] = KnnIndex.ids(answer);
      }
    }
  }

  private List<List<Point>> points(List<List<Answers>> answers) {
    Recall recall = new Recall(set.vectors(), K);
    List<List<Point>> points = new ArrayList<>();
    for (int i = 0; i < indices.size(); i++) {
      List<Point> ofIndex = new ArrayList<>();
      for (int width = 0; width < CANDIDATES.size(); width++) {
        Answers of = answers.get(i).get(width);
        Point point =
            new Point(
                CANDIDATES.get(width),
                recall.of(of.hits),
                of.latencies.quantileMillis(0.5),
                of.latencies.quantileMillis(0.99),
                of.hits);
        progress.say(
            "  %s at num_candidates %d: recall@%d %.4f, p50 %.2f ms",
            indices.get(i).name(), point.numCandidates(), K, point.recall(), point.p50Millis());
        ofIndex.add(point);
      }
      points.add(ofIndex);
    }
    return points;
  }

  /** What one index has answered so far at one {@code num_candidates}. */
  private static final class Answers {
    private final Latencies latencies = new Latencies();
    private final int[][] hits;

    Answers(int queries) {
      hits = new int[queries][];
    }
  }
}
