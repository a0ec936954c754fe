package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Asks every query at several {@code num_candidates} in random order, alternating between the rows.
 * Whatever else the machine does thus meets every point alike, and the curves of medians are
 * smooth.
 */
final class Sweep {

  /** Hits wanted of every query. */
  static final int K = 10;

  /** The {@code num_candidates} asked for, ascending. */
  static final List<Integer> CANDIDATES = List.of(10, 20, 50, 100, 200, 400);

  private static final int BLOCK = 125;
  private static final long SEED = 7;

  /** All queries are asked again while there is time: more samples make smoother curves. */
  private static final int MOST_PASSES = 3;

  private static final double SECONDS = 8;

  /**
   * One row at one {@code num_candidates}.
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
  private final Lanes lanes;
  private final Progress progress;
  private final List<List<Answers>> answers = new ArrayList<>();
  private final Random random = new Random(SEED);
  private int asked;

  Sweep(DemoSet set, Lanes lanes, Progress progress) {
    this.set = set;
    this.lanes = lanes;
    this.progress = progress;
  }

  /** The points of each row, in the order of the rows and of {@link #CANDIDATES}. */
  List<List<Point>> run() throws IOException {
    int queries = set.vectors().queries().size();
    for (int i = 0; i < lanes.size(); i++) {
      answers.add(CANDIDATES.stream().map(any -> new Answers(queries)).toList());
    }
    String what = "asking all rows in turn at num_candidates " + CANDIDATES;
    double all = (double) queries * lanes.size();
    double start = progress.seconds();
    try (Progress.Running asking = progress.during(what, () -> asked / all)) {
      askAll(queries);
    }
    for (int pass = 1; pass < MOST_PASSES && progress.seconds() - start < SECONDS; pass++) {
      asked = 0;
      try (Progress.Running asking = progress.during("once more", () -> asked / all)) {
        askAll(queries);
      }
    }
    return points();
  }

  private void askAll(int queries) throws IOException {
    for (int from = 0; from < queries; from += BLOCK) {
      int begin = from;
      int end = Math.min(from + BLOCK, queries);
      for (int[] group : lanes.groups()) {
        lanes.ask(
            group,
            () -> {
              for (int q = begin; q < end; q++) {
                ask(q, group);
              }
            });
      }
    }
  }

  private void ask(int q, int[] group) throws IOException {
    List<Integer> widths = new ArrayList<>();
    for (int width = 0; width < CANDIDATES.size(); width++) {
      widths.add(width);
    }
    Collections.shuffle(widths, random);
    float[] vector = set.vectors().queries().rows()[q];
    for (int width : widths) {
      String query = KnnIndex.query(vector, K, CANDIDATES.get(width));
      // Whoever comes second finds the processor's caches as the first has left them.
      int first = random.nextInt(group.length);
      for (int turn = 0; turn < group.length; turn++) {
        int i = group[(turn + first) % group.length];
        long start = System.nanoTime();
        String answer = lanes.get(i).index().ask(query);
        Answers of = answers.get(i).get(width);
        of.latencies.add(System.nanoTime() - start);
        of.hits[q] = KnnIndex.ids(answer);
      }
    }
    asked += group.length;
  }

  private List<List<Point>> points() {
    Recall recall = new Recall(set.vectors(), K);
    List<List<Point>> points = new ArrayList<>();
    for (int i = 0; i < lanes.size(); i++) {
      List<Point> ofLane = new ArrayList<>();
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
            lanes.get(i).label(), point.numCandidates(), K, point.recall(), point.p50Millis());
        ofLane.add(point);
      }
      points.add(ofLane);
    }
    return points;
  }

  /** Answers of one row so far at one {@code num_candidates}. */
  private static final class Answers {
    private final Latencies latencies = new Latencies();
    private final int[][] hits;

    Answers(int queries) {
      hits = new int[queries][];
    }
  }
}
