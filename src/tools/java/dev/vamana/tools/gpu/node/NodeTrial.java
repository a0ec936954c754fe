package dev.vamana.tools.gpu.node;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.elasticsearch.Build;

/**
 * Runs an Elasticsearch node with the plugin and with entitlements enabled, fills an index of the
 * plugin, a stock one and one with Lucene's own HNSW, and measures many REST clients at equal
 * recall.
 */
public final class NodeTrial {

  private static final double[] TARGETS = {0.95, 0.99};
  private static final int[] WIDTHS = {
    10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 256, 320, 400, 512,
    640, 800, 1000
  };
  private static final int COLD_WIDTH = 6;
  private static final int FLOOR_VECTORS = 64;
  private static final int ROUNDS = 2;
  private static final int COLD_ROUNDS = 3;
  private static final int MOST_COLD_ROUNDS = 20;
  private static final double GROWS = 1.05;
  private static final double COMPILING_MICROS = 5;
  private static final String STOCK = "es-hnsw";
  private static final String PLAIN = "es-lucene-hnsw";

  /**
   * Method of the floor index, which has as many documents as the others but few vectors. Its
   * requests measure the cost of a search request without the search, including the reading of ids
   * of distant hits.
   */
  public static final String FLOOR = "es-floor";

  private final Plan plan;
  private final Findings findings;

  /**
   * The measurements to make.
   *
   * @param parts parts of the node
   * @param set vectors and queries
   * @param placements values of {@code vamana.gpu.placement}, each measured with a node of its own;
   *     empty to leave the GPU off
   * @param segments most segments of each index
   * @param settings further settings of the nodes
   * @param clients concurrent clients
   * @param seconds duration of each measurement
   */
  public record Plan(
      NodeParts parts,
      VectorSet set,
      List<String> placements,
      int segments,
      Map<String, String> settings,
      int clients,
      double seconds) {}

  public NodeTrial(Plan plan, Findings findings) {
    this.plan = plan;
    this.findings = findings;
  }

  /** Runs the trial and reports findings as they are made. */
  public void run() throws IOException {
    NodeHome home = plan.parts().assemble();
    Path plain = plan.parts().folder().resolve("plain-hnsw.zip");
    PluginZips.plainHnsw(plain, Build.current().version());
    home.installPlugin(plain);
    Map<Double, Measured> stock = new TreeMap<>();
    Map<Double, Measured> floor = new TreeMap<>();
    Map<Double, Double> levels = new TreeMap<>();
    List<String> modes = new ArrayList<>(plan.placements());
    modes.add(NodeParts.OFF);
    for (String mode : modes) {
      try (RunningNode node = plan.parts().start(home, mode, plan.settings())) {
        run(node, mode, stock, floor, levels);
      }
    }
  }

  private void run(
      RunningNode node,
      String mode,
      Map<Double, Measured> stock,
      Map<Double, Measured> floor,
      Map<Double, Double> levels)
      throws IOException {
    boolean gpu = mode.equals(NodeParts.OFF) == false;
    NodeIndex ours = index(node, "vamana", gpu ? "es-vamana-gpu" : "es-vamana-cpu");
    List<NodeIndex> indices = new ArrayList<>(List.of(ours));
    fill(ours, plan.set().base().size(), Map.of("index.vamana.enabled", "true"));
    if (stock.isEmpty()) {
      NodeIndex hnsw = index(node, "stock", STOCK);
      NodeIndex plain = index(node, "plain", PLAIN);
      NodeIndex few = index(node, "floor", FLOOR);
      fillBoth(hnsw, plain);
      built(few, few.fill(plan.set().base().size(), FLOOR_VECTORS, plan.segments(), Map.of()));
      indices.addAll(List.of(hnsw, plain, few));
    }
    RestClients clients = new RestClients(node.httpUri(), plan.clients());
    if (gpu) {
      awaitGpu(node, ours, clients);
    }
    warm(node, clients, indices);
    for (double target : TARGETS) {
      levels.merge(target, level(clients, indices, target), Math::max);
      Map<NodeIndex, Measured> measured = measure(node, clients, indices, levels.get(target), gpu);
      for (Map.Entry<NodeIndex, Measured> entry : measured.entrySet()) {
        String method = entry.getKey().method();
        Measured found = entry.getValue();
        String placement = method.equals("es-vamana-gpu") ? mode : "cpu";
        findings.measured(found.point(method, placement, plan.clients(), target));
        if (method.equals(STOCK)) {
          stock.put(target, found);
        } else if (method.equals(FLOOR)) {
          floor.put(target, found);
        }
      }
      Measured we = measured.get(ours);
      if (gpu) {
        check(mode, target, we);
      }
      findings.split(split(ours.method(), target, we, STOCK, stock.get(target), floor.get(target)));
      for (Map.Entry<NodeIndex, Measured> entry : measured.entrySet()) {
        if (entry.getKey().method().equals(PLAIN)) {
          findings.split(
              split(ours.method(), target, we, PLAIN, entry.getValue(), floor.get(target)));
        }
      }
    }
  }

  private NodeIndex index(RunningNode node, String name, String method) {
    return new NodeIndex(node, plan.set(), name, method);
  }

  private void fill(NodeIndex index, int count, Map<String, String> settings) throws IOException {
    built(index, index.fill(count, plan.segments(), settings));
  }

  /** Fills both indices in parallel, since few threads merge each of them. */
  private void fillBoth(NodeIndex hnsw, NodeIndex plain) throws IOException {
    int count = plan.set().base().size();
    try (ExecutorService both = Executors.newFixedThreadPool(2)) {
      Future<Double> first = both.submit(() -> hnsw.fill(count, plan.segments(), Map.of()));
      Future<Double> second =
          both.submit(() -> plain.fill(count, plan.segments(), Map.of("index.plain_hnsw", "true")));
      built(hnsw, first.get());
      built(plain, second.get());
    } catch (ExecutionException e) {
      throw new IOException("an index was not filled: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while indices were filled", e);
    }
  }

  private void built(NodeIndex index, double seconds) throws IOException {
    if (seconds > 0) {
      findings.say("%s: filled and merged in %.1f s", index.method(), seconds);
      findings.built(index.method(), seconds);
    }
  }

  /**
   * Warms up the node until it gets no faster and little of a request's processor time is spent on
   * JIT compilation.
   */
  private void warm(RunningNode node, RestClients clients, List<NodeIndex> indices)
      throws IOException {
    long best = 0;
    for (int round = 0; round < MOST_COLD_ROUNDS; round++) {
      ThreadTimes before = ThreadTimes.of(node);
      long answers = 0;
      for (NodeIndex index : indices) {
        answers += clients.run(index.requests(WIDTHS[COLD_WIDTH]), plan.seconds()).micros().length;
      }
      double compiling =
          ThreadTimes.of(node).microsPerRequest(before, answers).getOrDefault("jit", 0.0);
      if (round >= COLD_ROUNDS && answers < GROWS * best && compiling < COMPILING_MICROS) {
        return;
      }
      best = Math.max(best, answers);
    }
  }

  /** Sends requests until the GPU has all segments, so that no upload is measured. */
  private void awaitGpu(RunningNode node, NodeIndex ours, RestClients clients) throws IOException {
    findings.say("%s", node.client().post("/" + ours.name() + "/_vamana/warmup", null));
    if (GpuCounters.awaitGpu(node, ours.requests(WIDTHS[0]).subList(0, 20), clients) == false) {
      findings.say("the GPU did not take over within a minute: %s", GpuCounters.of(node).gpu());
    }
  }

  private record Measured(
      NodeIndex.Width width,
      RestClients.Answers answers,
      Map<String, Double> cpuMicros,
      Map<String, Map<String, Long>> answered) {

    Findings.Point point(String method, String placement, int clients, double target) {
      return new Findings.Point(
          method,
          placement,
          clients,
          target,
          width.numCandidates(),
          width.recall(),
          answers.micros(),
          answers.requestsPerSecond(),
          cpuMicros,
          answered);
    }

    double cpu(String group) {
      return cpuMicros.getOrDefault(group, 0.0);
    }
  }

  /**
   * Returns the recall that all indices have to reach: the target, or more if an index exceeds it
   * at its narrowest width.
   */
  private static double level(RestClients clients, List<NodeIndex> indices, double target)
      throws IOException {
    double level = target;
    for (NodeIndex index : indices) {
      if (index.method().equals(FLOOR) == false) {
        level = Math.max(level, index.recall(clients, WIDTHS[0]));
      }
    }
    return level;
  }

  private Map<NodeIndex, Measured> measure(
      RunningNode node, RestClients clients, List<NodeIndex> indices, double level, boolean gpu)
      throws IOException {
    Map<NodeIndex, NodeIndex.Width> widths = new LinkedHashMap<>();
    Map<NodeIndex, List<byte[]>> requests = new LinkedHashMap<>();
    for (NodeIndex index : indices) {
      NodeIndex.Width width =
          index.method().equals(FLOOR)
              ? new NodeIndex.Width(WIDTHS[0], 0)
              : index.width(clients, level, WIDTHS);
      widths.put(index, width);
      requests.put(index, index.requests(width.numCandidates()));
      clients.run(requests.get(index), plan.seconds());
    }
    Map<NodeIndex, Measured> measured = new LinkedHashMap<>();
    for (int round = 0; round < ROUNDS; round++) {
      for (int turn = 0; turn < indices.size(); turn++) {
        NodeIndex index = indices.get((turn + round) % indices.size());
        GpuCounters countersBefore = GpuCounters.of(node);
        ThreadTimes before = ThreadTimes.of(node);
        double clientsBefore = ProcessorTime.micros();
        RestClients.Answers answers = clients.run(requests.get(index), plan.seconds());
        double clientsAfter = ProcessorTime.micros();
        Map<String, Double> cpu =
            ThreadTimes.of(node).microsPerRequest(before, answers.micros().length);
        cpu.put("clients", (clientsAfter - clientsBefore) / answers.micros().length);
        Map<String, Map<String, Long>> answered =
            gpu ? GpuCounters.of(node).since(countersBefore) : Map.of();
        measured.merge(
            index, new Measured(widths.get(index), answers, cpu, answered), NodeTrial::bothRounds);
      }
    }
    return measured;
  }

  private static Measured bothRounds(Measured a, Measured b) {
    double first = a.answers().micros().length;
    double second = b.answers().micros().length;
    Map<String, Double> cpu = new TreeMap<>(a.cpuMicros());
    b.cpuMicros()
        .forEach(
            (group, micros) ->
                cpu.put(
                    group,
                    (cpu.getOrDefault(group, 0.0) * first + micros * second) / (first + second)));
    Map<String, Map<String, Long>> answered = GpuCounters.sum(a.answered(), b.answered());
    return new Measured(a.width(), a.answers().and(b.answers()), cpu, answered);
  }

  /** Records whether the GPU answered the requests that were measured as the GPU's. */
  private void check(String mode, double target, Measured we) throws IOException {
    long requests = we.answers().micros().length;
    long byGpu = GpuCounters.sum(we.answered().getOrDefault("items_by_placement", Map.of()));
    long byCpu = GpuCounters.sum(we.answered().getOrDefault("items_on_cpu", Map.of()));
    findings.check(
        "node." + plan.set().name() + "." + mode + ".gpuAnswersRest@" + target,
        byGpu >= 0.99 * requests && byCpu <= 0.01 * byGpu && we.width().recall() >= target
            ? "passed"
            : "failed",
        "of " + requests + " requests " + we.answered() + ", recall " + we.width().recall());
  }

  private static Findings.Split split(
      String method, double target, Measured we, String name, Measured baseline, Measured floor) {
    double other = floor.cpu("search");
    return new Findings.Split(
        method,
        name,
        target,
        Math.max(0, baseline.cpu("search") - other),
        other,
        baseline.cpu("http"),
        baseline.cpu("gc") + baseline.cpu("other"),
        we.answers().requestsPerSecond() / baseline.answers().requestsPerSecond());
  }
}
