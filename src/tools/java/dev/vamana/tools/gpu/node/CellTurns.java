package dev.vamana.tools.gpu.node;

import dev.vamana.tools.cells.Median;
import dev.vamana.tools.cells.Widths;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
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
  private final CellTrial.Findings findings;
  private final int segments;
  private final List<Integer> clients;
  private final Random random = new Random(SEED);
  private final Map<Who, NavigableMap<Integer, Double>> recalls = new LinkedHashMap<>();
  private final Map<Integer, Map<Step, Turns>> taken = new LinkedHashMap<>();
  private int starts;

  /** A method in the node of a mode. */
  private record Who(String method, String mode) {}

  private record Contender(CellTrial.Side side, NodeIndex index) {

    Who who() {
      return new Who(index.method(), side.mode());
    }

    /** Whether a GPU may answer. */
    boolean answersOnGpu() {
      return index.method().equals(CellTrial.GPU);
    }

    List<byte[]> requests(int width) {
      return index.requests(width);
    }
  }

  /** A method in the node of a mode, and the width of its search. All starts share the step. */
  private record Step(Who who, int width) {}

  /** What the turns of a point have measured. */
  private static final class Turns {
    final List<List<Double>> perSecond = new ArrayList<>(); // by start of the nodes
    final List<double[]> micros = new ArrayList<>();
    final List<Map<String, Map<String, Long>>> answered = new ArrayList<>(); // by start, too
    double clientMicros;
  }

  /**
   * Measures nothing yet.
   *
   * @param clients numbers of clients
   */
  CellTurns(CellTrial.Plan plan, CellTrial.Findings findings, int segments, List<Integer> clients) {
    this.plan = plan;
    this.findings = findings;
    this.segments = segments;
    this.clients = clients;
  }

  /** Takes this start's part of the turns. */
  void take(List<CellTrial.Side> sides) throws IOException {
    starts++;
    Map<Who, Contender> contenders = contenders(sides);
    warm(contenders);
    if (recalls.isEmpty()) {
      findRecalls(contenders);
    }
    Map<Who, List<Integer>> widths = new HashMap<>();
    recalls.forEach((who, of) -> widths.put(who, Widths.needed(of, least(), reached(of))));
    // all loads before any turn: trials of both answers would count as the first ones' turns
    for (int count : clients) {
      learn(count, contenders, widths);
    }
    for (int count : clients) {
      Map<Step, Turns> cell = taken.computeIfAbsent(count, unseen -> new LinkedHashMap<>());
      take(count, contenders, widths, cell);
      cell.forEach((step, turns) -> say(count, step, turns));
    }
  }

  /** Logs what this start has measured: what starts have in common cannot be chance. */
  private void say(int count, Step step, Turns turns) {
    findings.say(
        "start %d, %d clients, %s in the node %s, width %d: %.0f/s %s",
        starts,
        count,
        step.who().method(),
        step.who().mode(),
        step.width(),
        Median.of(turns.perSecond.get(starts - 1)),
        turns.answered.get(starts - 1));
  }

  /** Reports what the turns of all starts have measured until now. */
  void report() throws IOException {
    for (Map.Entry<Integer, Map<Step, Turns>> cell : taken.entrySet()) {
      for (Map.Entry<Step, Turns> entry : cell.getValue().entrySet()) {
        Step step = entry.getKey();
        Turns turns = entry.getValue();
        List<Double> byStart = turns.perSecond.stream().map(Median::of).toList();
        double[] micros = turns.micros.stream().flatMapToDouble(Arrays::stream).toArray();
        findings.measured(
            new CellTrial.Point(
                step.who().method(),
                step.who().mode(),
                segments,
                cell.getKey(),
                step.width(),
                recalls.get(step.who()).get(step.width()),
                byStart,
                Median.of(micros),
                turns.clientMicros / micros.length,
                turns.answered.stream().reduce(Map.of(), GpuCounters::sum)));
      }
      findings.done(segments, cell.getKey());
    }
  }

  private Map<Who, Contender> contenders(List<CellTrial.Side> sides) throws IOException {
    Map<Who, Contender> contenders = new LinkedHashMap<>();
    for (CellTrial.Side side : sides) {
      for (String method : plan.methodsOf(side.mode())) {
        String name = CellIndices.name(method, segments);
        NodeIndex index = new NodeIndex(side.node(), plan.set(), name, method);
        Contender contender = new Contender(side, index);
        contenders.put(contender.who(), contender);
        if (contender.answersOnGpu()) {
          findings.say("%s", side.node().client().post("/" + name + "/_vamana/warmup", null));
        }
      }
    }
    return contenders;
  }

  private void warm(Map<Who, Contender> contenders) throws IOException {
    findings.say("warming indices of %d segments", segments);
    for (int turn = 0; turn < WARM_TURNS; turn++) {
      for (Contender contender : contenders.values()) {
        if (contender.answersOnGpu()) {
          // the CPU answers few of these requests, but its code is to be as warm as the other
          // node's
          NodeClient client = contender.side().node().client();
          client.set(PLAN, "\"cpu\"");
          warm(contender);
          client.set(PLAN, null);
        }
        warm(contender);
      }
    }
  }

  private void warm(Contender contender) throws IOException {
    contender
        .side()
        .clients(WARM_CLIENTS)
        .run(contender.requests(WARM_WIDTH), WARM_LONGER * plan.seconds());
  }

  private void findRecalls(Map<Who, Contender> contenders) throws IOException {
    findings.say("recall of indices of %d segments", segments);
    int narrowest = Widths.ALL.get(0);
    for (Contender contender : contenders.values()) {
      recalls.put(contender.who(), new TreeMap<>());
      addRecall(contender, narrowest);
    }
    for (Contender contender : contenders.values()) {
      widen(contender, Math.max(ENOUGH, least()));
    }
  }

  /** Returns the recall of the cheapest search that finds most. */
  private double least() {
    return recalls.values().stream()
        .mapToDouble(of -> of.get(Widths.ALL.get(0)))
        .max()
        .orElseThrow();
  }

  private void addRecall(Contender contender, int width) throws IOException {
    RestClients asking = contender.side().clients(WARM_CLIENTS);
    recalls.get(contender.who()).put(width, contender.index().recall(asking, width));
  }

  /** Adds the recalls of wider searches, up to one that has enough or finds no more than half. */
  private void widen(Contender contender, double enough) throws IOException {
    NavigableMap<Integer, Double> own = recalls.get(contender.who());
    for (int width : Widths.ALL) {
      double widest = own.lastEntry().getValue();
      Integer before = own.lowerKey(own.lastKey() / 2);
      if (widest >= enough || (before != null && widest - own.get(before) < SOME_GAIN)) {
        return;
      }
      if (own.containsKey(width) == false) {
        addRecall(contender, width);
      }
    }
  }

  /** Has a node with a GPU measure who answers faster at each load, and others warm up. */
  private void learn(int count, Map<Who, Contender> contenders, Map<Who, List<Integer>> widths)
      throws IOException {
    for (Contender contender : contenders.values()) {
      List<Integer> own = widths.get(contender.who());
      RestClients asking = contender.side().clients(count);
      if (contender.answersOnGpu()) {
        for (int width : own) {
          List<byte[]> requests = contender.requests(width);
          RunningNode node = contender.side().node();
          GpuCounters before = GpuCounters.of(node);
          asking.run(requests, WARM_LONGER * plan.seconds());
          findings.say(
              "start %d, %d clients, width %d, learning: %s",
              starts, count, width, GpuCounters.of(node).since(before));
        }
      } else {
        asking.run(contender.requests(own.get(0)), WARM_LONGER * plan.seconds());
      }
    }
  }

  private void take(
      int count,
      Map<Who, Contender> contenders,
      Map<Who, List<Integer>> widths,
      Map<Step, Turns> cell)
      throws IOException {
    int fewest = widths.values().stream().mapToInt(List::size).min().orElseThrow();
    int rounds = Math.max(LEAST_ROUNDS, Math.ceilDiv(LEAST_TURNS, fewest));
    for (int round = 0; round < rounds; round++) {
      for (Step step : order(List.copyOf(contenders.keySet()), widths, round)) {
        Turns turns = cell.computeIfAbsent(step, unseen -> new Turns());
        take(contenders.get(step.who()), step.width(), count, turns);
      }
    }
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

  /** The compared recalls that an index has; quantized vectors may limit it. */
  private static List<Double> reached(NavigableMap<Integer, Double> recalls) {
    double most = Collections.max(recalls.values());
    return CellTrial.RECALLS.stream().filter(recall -> recall <= most).toList();
  }

  private void take(Contender contender, int width, int count, Turns turns) throws IOException {
    CellTrial.Side side = contender.side();
    List<byte[]> requests = contender.requests(width);
    boolean ours = CellIndices.isOurs(contender.index().method());
    GpuCounters before = ours ? GpuCounters.of(side.node()) : null;
    double own = ProcessorTime.micros();
    RestClients.Answers answers = side.clients(count).run(requests, plan.seconds());
    turns.clientMicros += ProcessorTime.micros() - own;
    if (turns.perSecond.size() < starts) {
      turns.perSecond.add(new ArrayList<>());
      turns.answered.add(Map.of());
    }
    turns.perSecond.get(starts - 1).add(answers.requestsPerSecond());
    turns.micros.add(answers.micros());
    if (ours) {
      Map<String, Map<String, Long>> answered = GpuCounters.of(side.node()).since(before);
      turns.answered.set(starts - 1, GpuCounters.sum(turns.answered.get(starts - 1), answered));
    }
  }
}
