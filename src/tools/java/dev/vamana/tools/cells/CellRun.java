package dev.vamana.tools.cells;

import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.demo.Load;
import dev.vamana.tools.demo.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Measures both indices of a set: recall first, then throughput in short turns. */
final class CellRun {

  /** Hits of every query. */
  static final int K = 10;

  private static final int WARM_CLIENTS = 8;
  private static final int WARM_WIDTH = 40;
  private static final int WARM_TURNS = 4;

  // with one width, the turns of a few rounds say little
  private static final int LEAST_TURNS = 60;

  /** Recall of the widest search that is measured. */
  private static final double ENOUGH = 0.993;

  private static final long SEED = 7;

  private final VectorSet set;
  private final SegmentedIndices indices;
  private final CellsOptions options;
  private final Progress progress;
  private final Random random = new Random(SEED);
  private final Map<Integer, Load> loads = new LinkedHashMap<>();

  CellRun(VectorSet set, SegmentedIndices indices, CellsOptions options, Progress progress) {
    this.set = set;
    this.indices = indices;
    this.options = options;
    this.progress = progress;
  }

  /** Measures with each number of clients. */
  List<Cell> run(int segments) throws IOException {
    warm();
    List<NavigableMap<Integer, Double>> recalls = new ArrayList<>();
    for (Contender contender : indices.both()) {
      recalls.add(new TreeMap<>(Map.of(Widths.ALL.get(0), recall(contender, Widths.ALL.get(0)))));
    }
    double enough = Math.max(ENOUGH, least(recalls));
    for (int i = 0; i < recalls.size(); i++) {
      widen(indices.both().get(i), recalls.get(i), enough);
    }
    List<Cell> cells = new ArrayList<>();
    for (int clients : options.clients()) {
      List<Curve> curves = curves(recalls, clients);
      Cell cell =
          new Cell(
              set.name(),
              set.base().size(),
              set.dimension(),
              segments,
              clients,
              curves.get(0),
              curves.get(1));
      cell.comparisons()
          .forEach(
              comparison ->
                  progress.say(
                      "  %s, %d segments, %d clients, recall %.3f: ours %.0f/s, stock %.0f/s: %.2f",
                      set.name(),
                      segments,
                      clients,
                      comparison.recall(),
                      comparison.ours(),
                      comparison.stock(),
                      comparison.ratio()));
      cells.add(cell);
    }
    return cells;
  }

  private void warm() throws IOException {
    try (Progress.Running warming = progress.during("warming both indices")) {
      for (int turn = 0; turn < WARM_TURNS; turn++) {
        for (Contender contender : indices.both()) {
          load(WARM_WIDTH).run(contender.searches(), WARM_CLIENTS, options.warm());
        }
      }
    }
  }

  /** Adds the recalls of wider searches, up to one that has enough. */
  private void widen(Contender contender, NavigableMap<Integer, Double> recalls, double enough)
      throws IOException {
    for (int width : Widths.ALL) {
      if (recalls.containsKey(width) == false) {
        recalls.put(width, recall(contender, width));
      }
      progress.say(
          "  %s at num_candidates %d: recall@%d %.4f",
          contender.index().label(), width, K, recalls.get(width));
      if (recalls.get(width) >= enough) {
        break;
      }
    }
  }

  /** The recall that every search has at least. */
  private static double least(List<NavigableMap<Integer, Double>> recalls) {
    return recalls.stream().mapToDouble(of -> of.firstEntry().getValue()).max().orElseThrow();
  }

  private double recall(Contender contender, int width) throws IOException {
    float[][] queries = set.queries().rows();
    int[][] hits = new int[queries.length][];
    try {
      IntStream.range(0, queries.length)
          .parallel()
          .forEach(
              q -> {
                String query = KnnIndex.query(queries[q], K, width);
                try {
                  hits[q] = KnnIndex.ids(contender.searches().answer(query));
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    return new Recall(set, K).of(hits);
  }

  private List<Curve> curves(List<NavigableMap<Integer, Double>> recalls, int clients)
      throws IOException {
    double least = least(recalls);
    List<List<Integer>> widths = new ArrayList<>();
    List<Map<Integer, double[]>> speeds = new ArrayList<>();
    for (NavigableMap<Integer, Double> of : recalls) {
      widths.add(Widths.needed(of, least, Cell.RECALLS));
      speeds.add(new LinkedHashMap<>());
    }
    int most = Math.max(widths.get(0).size(), widths.get(1).size());
    int rounds = Math.max(options.rounds(), Math.ceilDiv(LEAST_TURNS, most));
    try (Progress.Running asking = progress.during("asking with " + clients + " clients")) {
      for (int round = 0; round < rounds; round++) {
        List<Integer> order = new ArrayList<>(IntStream.range(0, most).boxed().toList());
        Collections.shuffle(order, random);
        for (int step : order) {
          for (int turn = 0; turn < 2; turn++) {
            // whoever comes second finds the processor's caches as the first has left them
            int i = (turn + round) % 2;
            if (step < widths.get(i).size()) {
              int width = widths.get(i).get(step);
              Load.Result result =
                  load(width).run(indices.both().get(i).searches(), clients, options.seconds());
              speeds.get(i).computeIfAbsent(width, w -> new double[rounds])[round] =
                  result.queriesPerSecond();
            }
          }
        }
      }
    }
    List<Curve> curves = new ArrayList<>();
    for (int i = 0; i < speeds.size(); i++) {
      Map<Integer, Double> recall = recalls.get(i);
      curves.add(
          new Curve(
              speeds.get(i).entrySet().stream()
                  .map(
                      of ->
                          new Curve.Point(
                              of.getKey(), recall.get(of.getKey()), Median.of(of.getValue())))
                  .toList()));
    }
    return curves;
  }

  private Load load(int width) {
    return loads.computeIfAbsent(
        width,
        w -> {
          List<String> queries = new ArrayList<>();
          for (float[] query : set.queries().rows()) {
            queries.add(KnnIndex.query(query, K, w));
          }
          return new Load(queries);
        });
  }
}
