package dev.vamana.tools.demo;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Warms the indices, asks them, and collects the figures of each row. */
final class Measurement {

  /** Clients of the measurement with several. */
  static final int CLIENTS = 8;

  private static final double WARM_UP_SECONDS = 2;
  private static final int ROUNDS = 4;

  private final DemoSet set;
  private final Lanes lanes;
  private final double roundSeconds;
  private final Progress progress;

  /**
   * A measurement that has not begun.
   *
   * @param roundSeconds how long each row is asked in each of the rounds
   */
  Measurement(DemoSet set, Lanes lanes, double roundSeconds, Progress progress) {
    this.set = set;
    this.lanes = lanes;
    this.roundSeconds = roundSeconds;
    this.progress = progress;
  }

  /** The figures of each row. */
  List<Figures> run() throws IOException {
    List<String> queries = new ArrayList<>();
    for (float[] query : set.vectors().queries().rows()) {
      queries.add(KnnIndex.query(query, Sweep.K, Figures.NUM_CANDIDATES));
    }
    Load load = new Load(queries);
    warm(load);
    List<List<Sweep.Point>> sweep = new Sweep(set, lanes, progress).run();
    Load.Result[] single = inTurn(load, 1);
    Load.Result[] several = inTurn(load, CLIENTS);
    List<Figures> figures = new ArrayList<>();
    for (int i = 0; i < lanes.size(); i++) {
      KnnIndex index = lanes.get(i).index();
      figures.add(
          new Figures(
              lanes.get(i).label(),
              lanes.answeredBy(i),
              single[i],
              several[i],
              sweep.get(i),
              index.indexSeconds(),
              index.bytes(),
              index.segments()));
    }
    lanes.reset();
    return figures;
  }

  private void warm(Load load) throws IOException {
    double seconds = Math.min(WARM_UP_SECONDS, 2 * roundSeconds);
    for (int i = 0; i < lanes.size(); i++) {
      Lane lane = lanes.get(i);
      try (Progress.Running warming = progress.during("warming " + lane.label())) {
        lanes.ask(
            new int[] {i},
            () -> {
              load.run(lane.index()::ask, 1, seconds);
              lanes.awaitUploads();
              load.run(lane.index()::ask, CLIENTS, seconds);
            });
      }
    }
    lanes.forget();
  }

  /** Several rounds, in each of which every row is asked; the first of a round changes. */
  private Load.Result[] inTurn(Load load, int clients) throws IOException {
    String what = clients == 1 ? "1 client" : clients + " clients";
    Load.Result[] results = new Load.Result[lanes.size()];
    int[] asked = new int[1];
    double all = ROUNDS * lanes.size();
    try (Progress.Running running =
        progress.during("measuring with " + what, () -> asked[0] / all)) {
      for (int round = 0; round < ROUNDS; round++) {
        for (int turn = 0; turn < lanes.size(); turn++) {
          int i = (turn + round) % lanes.size();
          lanes.ask(
              new int[] {i},
              () -> {
                Load.Result result = load.run(lanes.get(i).index()::ask, clients, roundSeconds);
                results[i] = results[i] == null ? result : results[i].and(result);
              });
          asked[0]++;
        }
      }
    }
    for (int i = 0; i < results.length; i++) {
      progress.say(
          "  %s: %s, %.0f queries/s, p50 %.2f ms, p99 %.2f ms",
          lanes.get(i).label(),
          what,
          results[i].queriesPerSecond(),
          results[i].latencies().quantileMillis(0.5),
          results[i].latencies().quantileMillis(0.99));
    }
    return results;
  }
}
