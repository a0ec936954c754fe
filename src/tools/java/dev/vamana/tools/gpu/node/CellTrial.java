package dev.vamana.tools.gpu.node;

import dev.vamana.tools.cells.SegmentedIndex;
import dev.vamana.tools.cells.Widths;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.lucene.util.IOUtils;

/**
 * Asks our index and stock ones over HTTP, by number of segments and of clients: in a node with a
 * GPU, and in one with the GPU off, which has a copy of the same files. Another node has filled the
 * indices before. The indices of both nodes take short turns, so that what disturbs one disturbs
 * all.
 */
public final class CellTrial {

  /** Method of our index in a node with a GPU. */
  public static final String GPU = "es-vamana-gpu";

  /** Method of our index in a node whose GPU is off. */
  public static final String CPU = "es-vamana-cpu";

  /** Method of the stock index of type {@code hnsw}. */
  public static final String STOCK = "es-hnsw";

  /** Method of the stock index of type {@code int8_hnsw}. */
  public static final String INT8 = "es-int8-hnsw";

  /** Recalls at which indices are compared. */
  public static final List<Double> RECALLS = List.of(0.95, 0.99);

  /** Types of index options by method; each type has one index for each number of segments. */
  private static final Map<String, String> TYPES =
      Map.of(GPU, "vamana", CPU, "vamana", STOCK, "hnsw", INT8, "int8_hnsw");

  /** Recall of the widest search that is measured. */
  private static final double ENOUGH = 0.993;

  /** Recall that is worth a search of twice the width. */
  private static final double SOME_GAIN = 0.0005;

  private static final int LEAST_ROUNDS = 3;

  /** Least turns of an index in a cell: a pause of the node spoils one. */
  private static final int LEAST_TURNS = 10;

  private static final double LEARN_SECONDS = 1.5;
  private static final int WARM_TURNS = 2;
  private static final int WARM_CLIENTS = 32;
  private static final int WARM_WIDTH = 40;
  private static final double WARM_LONGER = 4;

  /** A shard flushes before its share of the heap is full; a segment has to fit into it. */
  private static final String BUFFER = "40%";

  private static final long SEED = 7;

  private final Plan plan;
  private final Findings findings;
  private final Random random = new Random(SEED);

  /**
   * The measurements to make.
   *
   * @param parts parts of the node
   * @param set vectors and queries
   * @param placement value of {@code vamana.gpu.placement}, or {@link NodeParts#OFF} without a GPU
   * @param methods methods to measure; empty for all
   * @param segments numbers of segments
   * @param clients numbers of concurrent clients
   * @param seconds duration of a turn; each point has three or more
   */
  public record Plan(
      NodeParts parts,
      VectorSet set,
      String placement,
      List<String> methods,
      List<Integer> segments,
      List<Integer> clients,
      double seconds) {}

  /** Receives the findings while the trial runs. */
  public interface Findings {

    /** Whether an earlier run has measured a method in a cell. */
    boolean has(String method, String mode, int segments, int clients);

    /** Called with each measured point. */
    void measured(Point point) throws IOException;

    /** Called when a cell has been measured. */
    void done(int segments, int clients) throws IOException;

    /** Logs progress. */
    void say(String format, Object... values);
  }

  /**
   * A measured point.
   *
   * @param mode value of {@code vamana.gpu.placement} of the node, or {@link NodeParts#OFF}
   * @param requestsPerSecond requests a second of all clients together, the median of the turns
   * @param p50Micros median time of a request
   * @param clientMicros processor time of the clients' process for a request
   * @param answered queries by placement, by plan and by reason of the CPU, and launches of the
   *     GPU; empty for stock indices
   */
  public record Point(
      String method,
      String mode,
      int segments,
      int clients,
      int numCandidates,
      double recall,
      double requestsPerSecond,
      double p50Micros,
      double clientMicros,
      Map<String, Map<String, Long>> answered) {}

  /**
   * A node.
   *
   * @param mode value of {@code vamana.gpu.placement}, or {@link NodeParts#OFF}
   */
  private record Side(RunningNode node, String mode) implements Closeable {

    RestClients clients(int count) {
      return new RestClients(node.httpUri(), count);
    }

    @Override
    public void close() {
      node.close();
    }
  }

  private record Contender(Side side, NodeIndex index, NavigableMap<Integer, Double> recalls) {}

  private record Step(Contender contender, int width) {}

  /** What the turns of a point have measured. */
  private static final class Turns {
    final List<Double> perSecond = new ArrayList<>();
    final List<double[]> micros = new ArrayList<>();
    double clientMicros;
    Map<String, Map<String, Long>> answered = Map.of();
  }

  public CellTrial(Plan plan, Findings findings) {
    this.plan = plan;
    this.findings = findings;
  }

  /** Runs the trial. Cells that an earlier run has measured are left out. */
  public void run() throws IOException {
    List<String> modes =
        Stream.of(plan.placement(), NodeParts.OFF)
            .distinct()
            .filter(
                mode ->
                    plan.segments().stream()
                        .anyMatch(segments -> left(mode, segments).isEmpty() == false))
            .toList();
    if (modes.isEmpty()) {
      return;
    }
    NodeParts parts = plan.parts();
    NodeHome home = parts.assemble();
    Map<String, String> settings =
        Map.of("vamana.gpu.plan", "auto", "indices.memory.index_buffer_size", BUFFER);
    // a node that has built graphs searches the stock index at half the speed of a fresh one
    try (RunningNode node = parts.start(home, plan.placement(), settings)) {
      fill(node);
    }
    List<Side> sides = new ArrayList<>();
    try {
      for (String mode : modes) {
        if (sides.isEmpty() == false) {
          parts = plan.parts().copiedTo(mode);
          home = parts.assemble();
        }
        sides.add(new Side(parts.start(home, mode, settings), mode));
        findings.say("%s: node is up", mode);
      }
      for (int segments : plan.segments()) {
        List<Integer> left =
            sides.stream()
                .flatMap(side -> left(side.mode(), segments).stream())
                .distinct()
                .sorted()
                .toList();
        if (left.isEmpty() == false) {
          measure(sides, segments, left);
        }
      }
    } finally {
      IOUtils.close(sides);
    }
  }

  /** Methods that a node measures. The GPU's node has measured {@link #INT8} for both. */
  private List<String> methods(String mode) {
    boolean gpu = mode.equals(NodeParts.OFF) == false;
    List<String> methods = new ArrayList<>(List.of(gpu ? GPU : CPU, STOCK));
    if (gpu || plan.placement().equals(NodeParts.OFF)) {
      methods.add(INT8);
    }
    if (plan.methods().isEmpty() == false) {
      methods.retainAll(plan.methods());
    }
    return methods;
  }

  /** Numbers of clients that are still to be measured. */
  private List<Integer> left(String mode, int segments) {
    return plan.clients().stream()
        .filter(
            clients ->
                methods(mode).stream()
                    .anyMatch(method -> findings.has(method, mode, segments, clients) == false))
        .toList();
  }

  private static String name(String type, int segments) {
    return "cells-" + segments + "-" + type.replace('_', '-');
  }

  /** Fills the indices that are not there, side by side: each index is filled by one thread. */
  private void fill(RunningNode node) throws IOException {
    List<String> types =
        TYPES.entrySet().stream()
            .filter(type -> plan.methods().isEmpty() || plan.methods().contains(type.getKey()))
            .map(Map.Entry::getValue)
            .distinct()
            .sorted()
            .toList();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<?>> filling = new ArrayList<>();
      for (int segments : plan.segments()) {
        for (String type : types) {
          filling.add(
              threads.submit(
                  () -> {
                    fill(node, type, segments);
                    return null;
                  }));
        }
      }
      for (Future<?> one : filling) {
        one.get();
      }
    } catch (ExecutionException e) {
      throw new IOException("an index was not filled: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while indices were filled", e);
    }
  }

  private void fill(RunningNode node, String type, int segments) throws IOException {
    String name = name(type, segments);
    KnnIndex index = new KnnIndex(node.client(), name, name);
    SegmentedIndex segmented = new SegmentedIndex(node.client(), plan.set(), index);
    if (segmented.isThere(segments)) {
      return;
    }
    long start = System.nanoTime();
    boolean ours = type.equals(TYPES.get(GPU));
    segmented.createAndFill(
        ours ? "hnsw" : type, ours ? Map.of("index.vamana.enabled", "true") : Map.of(), segments);
    findings.say("%s: filled in %.1f s", name, (System.nanoTime() - start) / 1e9);
  }

  private void measure(List<Side> sides, int segments, List<Integer> left) throws IOException {
    List<Contender> contenders = new ArrayList<>();
    for (Side side : sides) {
      for (String method : methods(side.mode())) {
        String name = name(TYPES.get(method), segments);
        NodeIndex index = new NodeIndex(side.node(), plan.set(), name, method);
        contenders.add(new Contender(side, index, new TreeMap<>()));
        if (method.equals(GPU)) {
          findings.say("%s", side.node().client().post("/" + name + "/_vamana/warmup", null));
        }
      }
    }
    findings.say("warming indices of %d segments, then their recall", segments);
    for (int turn = 0; turn < WARM_TURNS; turn++) {
      for (Contender contender : contenders) {
        contender
            .side()
            .clients(WARM_CLIENTS)
            .run(contender.index().requests(WARM_WIDTH), WARM_LONGER * plan.seconds());
      }
    }
    int narrowest = Widths.ALL.get(0);
    for (Contender contender : contenders) {
      addRecall(contender, narrowest);
    }
    double least =
        contenders.stream().mapToDouble(of -> of.recalls().get(narrowest)).max().orElseThrow();
    for (Contender contender : contenders) {
      widen(contender, Math.max(ENOUGH, least));
    }
    for (int clients : left) {
      measure(segments, clients, contenders, least);
      findings.done(segments, clients);
    }
  }

  private static void addRecall(Contender contender, int width) throws IOException {
    RestClients clients = contender.side().clients(WARM_CLIENTS);
    contender.recalls().put(width, contender.index().recall(clients, width));
  }

  /** Adds the recalls of wider searches, up to one that has enough or finds no more than half. */
  private static void widen(Contender contender, double enough) throws IOException {
    NavigableMap<Integer, Double> recalls = contender.recalls();
    for (int width : Widths.ALL) {
      double widest = recalls.lastEntry().getValue();
      Integer before = recalls.lowerKey(recalls.lastKey() / 2);
      if (widest >= enough || (before != null && widest - recalls.get(before) < SOME_GAIN)) {
        return;
      }
      if (recalls.containsKey(width) == false) {
        addRecall(contender, width);
      }
    }
  }

  private void measure(int segments, int clients, List<Contender> contenders, double least)
      throws IOException {
    int fewest = LEAST_TURNS;
    for (Contender contender : contenders) {
      List<Integer> widths = Widths.needed(contender.recalls(), least, reached(contender));
      fewest = Math.min(fewest, widths.size());
      // a node with a GPU measures who answers faster at a load that is new to it
      boolean learns = contender.index().method().equals(GPU);
      for (int width : learns ? widths : widths.subList(0, 1)) {
        contender.side().clients(clients).run(contender.index().requests(width), LEARN_SECONDS);
      }
    }
    int rounds = Math.max(LEAST_ROUNDS, Math.ceilDiv(LEAST_TURNS, fewest));
    Map<Step, Turns> turns = new LinkedHashMap<>();
    for (int round = 0; round < rounds; round++) {
      for (Step step : order(contenders, least, round)) {
        take(step, clients, turns.computeIfAbsent(step, unseen -> new Turns()));
      }
    }
    for (Map.Entry<Step, Turns> entry : turns.entrySet()) {
      Contender contender = entry.getKey().contender();
      int width = entry.getKey().width();
      Turns taken = entry.getValue();
      double[] micros = taken.micros.stream().flatMapToDouble(Arrays::stream).toArray();
      findings.measured(
          new Point(
              contender.index().method(),
              contender.side().mode(),
              segments,
              clients,
              width,
              contender.recalls().get(width),
              median(taken.perSecond.stream().mapToDouble(Double::doubleValue).toArray()),
              median(micros),
              taken.clientMicros / micros.length,
              taken.answered));
    }
  }

  /** Wide and narrow searches in random order; each round begins with another index. */
  private List<Step> order(List<Contender> contenders, double least, int round) {
    List<List<Integer>> widths =
        contenders.stream().map(of -> Widths.needed(of.recalls(), least, reached(of))).toList();
    int most = widths.stream().mapToInt(List::size).max().orElseThrow();
    List<Integer> places = new ArrayList<>(IntStream.range(0, most).boxed().toList());
    Collections.shuffle(places, random);
    List<Step> steps = new ArrayList<>();
    for (int place : places) {
      for (int i = 0; i < contenders.size(); i++) {
        int who = (i + round) % contenders.size();
        if (place < widths.get(who).size()) {
          steps.add(new Step(contenders.get(who), widths.get(who).get(place)));
        }
      }
    }
    return steps;
  }

  /** The compared recalls that an index has; quantized vectors may limit it. */
  private static List<Double> reached(Contender contender) {
    double most = Collections.max(contender.recalls().values());
    return RECALLS.stream().filter(recall -> recall <= most).toList();
  }

  private void take(Step step, int clients, Turns turns) throws IOException {
    Side side = step.contender().side();
    NodeIndex index = step.contender().index();
    List<byte[]> requests = index.requests(step.width());
    boolean ours = TYPES.get(index.method()).equals(TYPES.get(GPU));
    GpuCounters before = ours ? GpuCounters.of(side.node()) : null;
    double own = ProcessorTime.micros();
    RestClients.Answers answers = side.clients(clients).run(requests, plan.seconds());
    turns.clientMicros += ProcessorTime.micros() - own;
    turns.perSecond.add(answers.requestsPerSecond());
    turns.micros.add(answers.micros());
    if (ours) {
      turns.answered = GpuCounters.sum(turns.answered, GpuCounters.of(side.node()).since(before));
    }
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
