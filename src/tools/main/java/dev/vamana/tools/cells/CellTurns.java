package dev.vamana.tools.cells;

import dev.vamana.tools.cells.CellTrial.Method;
import dev.vamana.tools.figures.Figures;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * The turns that the indices of one number of segments take, by number of clients, in nodes that
 * are started several times. The first start finds out which widths are worth measuring.
 */
final class CellTurns {

  /** Recall of the widest search that is measured. */
  private static final double ENOUGH = 0.993;

  /** Recall that is worth a search of twice the width. */
  private static final double SOME_GAIN = 0.0005;

  /** Least turns of a point in each start, of which the median counts. */
  private static final int LEAST_ROUNDS = 3;

  /** Least turns of an index in each start: a pause of the node spoils one. */
  private static final int LEAST_TURNS = 10;

  // about 50,000 requests to 40 segments; nodes on 2 processors became no faster after 35,000 each
  private static final int WARM_TURNS = 4;
  private static final int WARM_CLIENTS = 32;
  private static final int WARM_WIDTH = 40;
  private static final double WARM_LONGER = 4;
  private static final String PLAN = "vamana.gpu.plan";
  private static final long SEED = 7;

  private final CellTrial.Plan plan;
  private final int segments;
  private final Consumer<String> out;
  private final Random random = new Random(SEED);
  private final Map<Who, NavigableMap<Integer, Double>> recalls = new LinkedHashMap<>();

  // requests a second of every turn, by number of clients, by start
  private final Map<Integer, List<Map<Step, List<Double>>>> taken = new LinkedHashMap<>();

  /** A running node. */
  record Side(RunningNode node, boolean gpu) implements Closeable {
    RestClients clients(int count) {
      return new RestClients(node.httpUri(), count);
    }

    @Override
    public void close() {
      node.close();
    }
  }

  /** A method in a node, which all starts share. */
  private record Who(Method method, boolean gpu) {}

  // in the order of the columns
  private static final List<Map.Entry<Who, Who>> PAIRS =
      List.of(
          Map.entry(new Who(Method.GPU, true), new Who(Method.HNSW, true)),
          Map.entry(new Who(Method.GPU, true), new Who(Method.CPU, false)),
          Map.entry(new Who(Method.CPU, false), new Who(Method.HNSW, false)),
          Map.entry(new Who(Method.CPU, false), new Who(Method.INT8, false)),
          Map.entry(new Who(Method.CPU, false), new Who(Method.BBQ, false)));

  private static final List<Map.Entry<Who, Who>> STOCK_PAIRS =
      List.of(
          Map.entry(new Who(Method.GPU_HNSW, true), new Who(Method.HNSW, true)),
          Map.entry(new Who(Method.GPU_INT8, true), new Who(Method.INT8, true)),
          Map.entry(new Who(Method.GPU_BBQ, true), new Who(Method.BBQ, true)));

  /** A search of a method. */
  private record Step(Who who, int width) {}

  CellTurns(CellTrial.Plan plan, int segments, Consumer<String> out) {
    this.plan = plan;
    this.segments = segments;
    this.out = out;
  }

  /** Takes one start's part of the turns. */
  void take(List<Side> sides) throws IOException {
    Map<Who, Side> contenders = new LinkedHashMap<>();
    for (Side side : sides) {
      for (Method method : plan.methods(side.gpu())) {
        contenders.put(new Who(method, side.gpu()), side);
        if (method.usesGpu()) {
          side.node().client().post("/" + method.index(segments) + "/_vamana/warmup", null);
        }
      }
    }
    warm(contenders);
    if (recalls.isEmpty()) {
      findRecalls(contenders);
    }
    Map<Who, List<Integer>> widths = new HashMap<>();
    recalls.forEach((who, of) -> widths.put(who, Widths.needed(of, least(), reached(of))));
    // all loads before any turn: trials of both answers would count as the first ones' turns
    for (int count : plan.clients()) {
      learn(count, contenders, widths);
    }
    for (int count : plan.clients()) {
      take(count, contenders, widths);
    }
  }

  private List<byte[]> searches(Who who, Side side, int width) {
    return side.clients(1).searches(who.method().index(segments), plan.set(), width);
  }

  private void warm(Map<Who, Side> contenders) throws IOException {
    out.accept("warming indices of " + segments + " segments");
    for (int turn = 0; turn < WARM_TURNS; turn++) {
      for (Map.Entry<Who, Side> contender : contenders.entrySet()) {
        List<byte[]> requests = searches(contender.getKey(), contender.getValue(), WARM_WIDTH);
        RestClients asking = contender.getValue().clients(WARM_CLIENTS);
        if (contender.getKey().method().usesGpu()) {
          // the CPU answers few of these, but its code is to be as warm as the other node's
          NodeClient client = contender.getValue().node().client();
          client.set(PLAN, "\"cpu\"");
          asking.run(requests, WARM_LONGER * plan.seconds());
          client.set(PLAN, null);
        }
        asking.run(requests, WARM_LONGER * plan.seconds());
      }
    }
  }

  private void findRecalls(Map<Who, Side> contenders) throws IOException {
    for (Map.Entry<Who, Side> contender : contenders.entrySet()) {
      recalls.put(contender.getKey(), new TreeMap<>());
      addRecall(contender.getKey(), contender.getValue(), Widths.ALL.get(0));
    }
    double enough = Math.max(ENOUGH, least());
    for (Map.Entry<Who, Side> contender : contenders.entrySet()) {
      NavigableMap<Integer, Double> own = recalls.get(contender.getKey());
      for (int width : Widths.ALL) {
        double widest = own.lastEntry().getValue();
        Integer before = own.lowerKey(own.lastKey() / 2);
        // enough, or no more than at half the width
        if (widest >= enough || (before != null && widest - own.get(before) < SOME_GAIN)) {
          break;
        }
        if (own.containsKey(width) == false) {
          addRecall(contender.getKey(), contender.getValue(), width);
        }
      }
      out.accept(contender.getKey() + ": recalls " + own);
    }
  }

  /** Returns the recall of the cheapest search that finds most. */
  private double least() {
    return recalls.values().stream()
        .mapToDouble(of -> of.get(Widths.ALL.get(0)))
        .max()
        .orElseThrow();
  }

  private void addRecall(Who who, Side side, int width) throws IOException {
    recalls
        .get(who)
        .put(
            width,
            side.clients(WARM_CLIENTS).recall(who.method().index(segments), plan.set(), width));
  }

  /** The compared recalls that an index has; quantized vectors may limit it. */
  private static List<Double> reached(NavigableMap<Integer, Double> recalls) {
    double most = Collections.max(recalls.values());
    return CellTrial.RECALLS.stream().filter(recall -> recall <= most).toList();
  }

  /** Has a node with a GPU measure who answers faster at each load, and others warm up. */
  private void learn(int count, Map<Who, Side> contenders, Map<Who, List<Integer>> widths)
      throws IOException {
    for (Map.Entry<Who, Side> contender : contenders.entrySet()) {
      Who who = contender.getKey();
      List<Integer> own = widths.get(who);
      for (int width : who.method().usesGpu() ? own : own.subList(0, 1)) {
        contender
            .getValue()
            .clients(count)
            .run(searches(who, contender.getValue(), width), WARM_LONGER * plan.seconds());
      }
    }
  }

  private void take(int count, Map<Who, Side> contenders, Map<Who, List<Integer>> widths)
      throws IOException {
    Map<Step, List<Double>> speeds = new LinkedHashMap<>();
    int fewest = widths.values().stream().mapToInt(List::size).min().orElseThrow();
    int rounds = Math.max(LEAST_ROUNDS, Math.ceilDiv(LEAST_TURNS, fewest));
    for (int round = 0; round < rounds; round++) {
      for (Step step : order(List.copyOf(contenders.keySet()), widths, round)) {
        Side side = contenders.get(step.who());
        speeds
            .computeIfAbsent(step, unseen -> new ArrayList<>())
            .add(
                side.clients(count)
                    .run(searches(step.who(), side, step.width()), plan.seconds())
                    .perSecond());
      }
    }
    taken.computeIfAbsent(count, unseen -> new ArrayList<>()).add(speeds);
    speeds.forEach(
        (step, of) -> out.accept(count + " clients, " + step + ": " + Median.of(of) + "/s"));
  }

  /** Wide and narrow searches in random order; each round begins with another index. */
  private List<Step> order(List<Who> contenders, Map<Who, List<Integer>> widths, int round) {
    int most = widths.values().stream().mapToInt(List::size).max().orElseThrow();
    List<Integer> places = new ArrayList<>(IntStream.range(0, most).boxed().toList());
    Collections.shuffle(places, random);
    List<Step> steps = new ArrayList<>();
    for (int place : places) {
      for (int i = 0; i < contenders.size(); i++) {
        Who who = contenders.get((i + round) % contenders.size());
        if (place < widths.get(who).size()) {
          steps.add(new Step(who, widths.get(who).get(place)));
        }
      }
    }
    return steps;
  }

  /** Records the ratios, of the geometric means of all starts. */
  void report(Figures figures) throws IOException {
    for (int count : taken.keySet()) {
      for (double recall : CellTrial.RECALLS) {
        List<Object> values = new ArrayList<>(List.of(segments, count, recall));
        for (Map.Entry<Who, Who> pair : plan.stock() ? STOCK_PAIRS : PAIRS) {
          values.add(ratio(count, recall, pair.getKey(), pair.getValue()));
        }
        figures.add(plan.sheet(), plan.subject(), values.toArray());
      }
    }
  }

  /** Returns a ratio of requests a second; NaN if one of both was not measured at the recall. */
  private double ratio(int count, double recall, Who one, Who other) {
    Curve ours = curve(count, one);
    Curve theirs = curve(count, other);
    if (ours == null || theirs == null) {
      return Double.NaN;
    }
    double ratio = ours.ratioTo(theirs, recall);
    out.accept(count + " clients, recall " + recall + ", " + one + " over " + other + ": " + ratio);
    return ratio;
  }

  private Curve curve(int count, Who who) {
    Map<Integer, List<Double>> byWidth = new TreeMap<>();
    for (Map<Step, List<Double>> start : taken.get(count)) {
      start.forEach(
          (step, speeds) -> {
            if (step.who().equals(who)) {
              byWidth
                  .computeIfAbsent(step.width(), unseen -> new ArrayList<>())
                  .add(Median.of(speeds));
            }
          });
    }
    return byWidth.isEmpty()
        ? null
        : new Curve(
            byWidth.entrySet().stream()
                .map(
                    of ->
                        new Curve.Point(
                            of.getKey(),
                            recalls.get(who).get(of.getKey()),
                            Median.geometricMean(of.getValue())))
                .toList());
  }
}
