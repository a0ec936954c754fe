package dev.vamana.tools.demo;

import dev.vamana.tools.callers.Callers.Times;
import dev.vamana.tools.cells.RestClients;
import dev.vamana.tools.cells.RestConnection;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Warms the indices, asks them, and collects the figures of each row. */
final class Measurement {

  /** Clients of the measurement with several. */
  static final int CLIENTS = 8;

  /** Hits wanted of every query. */
  static final int K = RestClients.K;

  /** The {@code num_candidates} asked for, ascending. */
  static final List<Integer> CANDIDATES = List.of(10, 20, 50, 100, 200, 400);

  private static final double WARM_UP_SECONDS = 2;
  private static final int ROUNDS = 4;

  /** Queries that one row is asked before the next has its turn. */
  private static final int BLOCK = 25;

  private static final long SEED = 7;

  /** All queries are asked again while there is time: more samples make smoother curves. */
  private static final int MOST_PASSES = 3;

  private static final double SECONDS = 8;
  private static final long UPLOAD_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final RunningNode node;
  private final DemoSet set;
  private final List<Row> rows;
  private final double roundSeconds;
  private final Progress progress;
  private final Random random = new Random(SEED);

  /**
   * A measurement that has not begun.
   *
   * @param roundSeconds how long each row is asked in each of the rounds
   */
  Measurement(
      RunningNode node, DemoSet set, List<Row> rows, double roundSeconds, Progress progress) {
    this.node = node;
    this.set = set;
    this.rows = rows;
    this.roundSeconds = roundSeconds;
    this.progress = progress;
  }

  /** The figures of each row. */
  List<Figures> run() throws IOException {
    warm();
    List<List<Figures.Point>> sweeps = sweep();
    List<Times> single = inTurn(1);
    List<Times> several = inTurn(CLIENTS);
    List<Figures> figures = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      KnnIndex index = rows.get(i).index();
      figures.add(
          new Figures(
              rows.get(i).label(),
              rows.get(i).answeredBy(),
              single.get(i),
              several.get(i),
              sweeps.get(i),
              index.indexSeconds(),
              index.bytes(),
              index.segments()));
    }
    Row.reset(node.client());
    return figures;
  }

  private Times load(Row row, int clients, double seconds) throws IOException {
    RestClients all = new RestClients(node.httpUri(), clients);
    List<byte[]> searches = all.searches(row.index().name(), set.vectors(), Figures.NUM_CANDIDATES);
    return row.ask(() -> all.run(searches, seconds));
  }

  private void warm() throws IOException {
    double seconds = Math.min(WARM_UP_SECONDS, 2 * roundSeconds);
    for (Row row : rows) {
      try (Progress.Running warming = progress.during("warming " + row.label())) {
        load(row, 1, seconds);
        long deadline = System.nanoTime() + UPLOAD_NANOS;
        while (GpuStatus.of(node.client()).waiting() > 0 && System.nanoTime() < deadline) {
          row.index().segments();
        }
        load(row, CLIENTS, seconds);
      }
      row.forget();
    }
  }

  /** Several rounds, in each of which every row is asked; the first of a round changes. */
  private List<Times> inTurn(int clients) throws IOException {
    String what = clients == 1 ? "1 client" : clients + " clients";
    Times[] results = new Times[rows.size()];
    int[] asked = new int[1];
    double all = ROUNDS * rows.size();
    try (Progress.Running running =
        progress.during("measuring with " + what, () -> asked[0] / all)) {
      for (; asked[0] < all; asked[0]++) {
        int i = (asked[0] + asked[0] / rows.size()) % rows.size();
        Times times = load(rows.get(i), clients, roundSeconds);
        results[i] = results[i] == null ? times : results[i].and(times);
      }
    }
    for (int i = 0; i < results.length; i++) {
      progress.say(
          "  %s: %s, %.0f queries/s, p50 %.2f ms, p99 %.2f ms",
          rows.get(i).label(),
          what,
          results[i].perSecond(),
          results[i].quantile(0.5) * 1e-3,
          results[i].quantile(0.99) * 1e-3);
    }
    return List.of(results);
  }

  /** Answers of one row so far at one {@code num_candidates}. */
  private static final class Answers {
    private final List<Double> micros = new ArrayList<>();
    private final int[][] hits;

    Answers(int queries) {
      hits = new int[queries][];
    }
  }

  /**
   * Asks every query at several {@code num_candidates} in random order, a few queries of one row
   * after some of another. Whatever else the machine does thus meets every point alike, and the
   * curves of medians are smooth.
   */
  private List<List<Figures.Point>> sweep() throws IOException {
    int queries = set.vectors().queries().size();
    List<List<Answers>> answers = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      answers.add(CANDIDATES.stream().map(any -> new Answers(queries)).toList());
    }
    int[] asked = new int[1];
    String what = "asking all rows in turn at num_candidates " + CANDIDATES;
    double end = progress.seconds() + SECONDS;
    for (int pass = 0; pass == 0 || (pass < MOST_PASSES && progress.seconds() < end); pass++) {
      asked[0] = 0;
      try (Progress.Running asking =
              progress.during(pass == 0 ? what : "once more", () -> asked[0] / (double) queries);
          RestConnection connection = new RestConnection(node.httpUri())) {
        for (; asked[0] < queries; asked[0] += BLOCK) {
          int first = random.nextInt(rows.size());
          for (int turn = 0; turn < rows.size(); turn++) {
            int i = (first + turn) % rows.size();
            ask(connection, rows.get(i), answers.get(i), asked[0]);
          }
        }
      }
    }
    return IntStream.range(0, rows.size())
        .mapToObj(i -> points(rows.get(i), answers.get(i)))
        .toList();
  }

  private void ask(RestConnection connection, Row row, List<Answers> answers, int from)
      throws IOException {
    String path = "/" + row.index().name() + "/_search";
    float[][] queries = set.vectors().queries().rows();
    List<Integer> widths = new ArrayList<>(IntStream.range(0, CANDIDATES.size()).boxed().toList());
    row.ask(
        () -> {
          for (int q = from; q < Math.min(from + BLOCK, queries.length); q++) {
            Collections.shuffle(widths, random);
            for (int width : widths) {
              String query = KnnIndex.query(queries[q], K, CANDIDATES.get(width));
              byte[] request = RestConnection.post(node.httpUri(), path, query);
              long start = System.nanoTime();
              byte[] answer = connection.send(request);
              answers.get(width).micros.add((System.nanoTime() - start) * 1e-3);
              answers.get(width).hits[q] = KnnIndex.ids(new String(answer, StandardCharsets.UTF_8));
            }
          }
          return null;
        });
  }

  private List<Figures.Point> points(Row row, List<Answers> answers) {
    Recall recall = new Recall(set.vectors(), K);
    List<Figures.Point> points = new ArrayList<>();
    for (int width = 0; width < CANDIDATES.size(); width++) {
      Answers of = answers.get(width);
      Times times = new Times(of.micros.stream().mapToDouble(Double::doubleValue).toArray(), 1);
      Figures.Point point =
          new Figures.Point(
              CANDIDATES.get(width),
              recall.of(of.hits),
              times.quantile(0.5) * 1e-3,
              times.quantile(0.99) * 1e-3,
              of.hits);
      progress.say(
          "  %s at num_candidates %d: recall@%d %.4f, p50 %.2f ms",
          row.label(), point.numCandidates(), K, point.recall(), point.p50Millis());
      points.add(point);
    }
    return points;
  }
}
