package dev.vamana.tools.gpu;

import dev.vamana.tools.cells.SegmentedIndex;
import dev.vamana.tools.gpu.node.Findings;
import dev.vamana.tools.gpu.node.NodeParts;
import dev.vamana.tools.gpu.node.NodeTrial;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Measures REST searches of an Elasticsearch node with the plugin. Needs the suite's part {@code
 * node}.
 */
final class NodeStage implements Stage {

  private static final int CLIENTS = 64;
  private static final int SAMPLES = 300;
  private static final double LONGER = 5;

  private final String setName;

  NodeStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException {
    SuiteOptions options = context.options();
    SuiteSet set = SuiteSet.load(options, setName);
    List<String> placements =
        options.placements().isEmpty() ? List.of("auto") : options.placements();
    new NodeTrial(
            new NodeTrial.Plan(
                parts(options, set),
                set.vectors(),
                options.device() < 0 ? List.of() : placements,
                options.segments(),
                settings(options),
                CLIENTS,
                options.seconds() * LONGER),
            new IntoFragment(context, set))
        .run();
  }

  private static Map<String, String> settings(SuiteOptions options) {
    Map<String, String> settings = new TreeMap<>();
    settings.put("vamana.gpu.batch.linger", options.linger() + "micros");
    if (options.devices() > 1) {
      settings.put(
          "vamana.gpu.devices",
          IntStream.range(0, options.devices())
              .mapToObj(Integer::toString)
              .collect(Collectors.joining(",")));
    }
    if (options.searchThreads() > 0) {
      settings.put("thread_pool.search.size", Integer.toString(options.searchThreads()));
    }
    return settings;
  }

  /** Returns the mode to start a node in: off without a device, else the placement asked for. */
  static String mode(SuiteOptions options) {
    if (options.device() < 0) {
      return NodeParts.OFF;
    }
    return options.placements().isEmpty() ? "auto" : options.placements().get(0);
  }

  /** Returns the parts of a node, which keeps its indices of a set between runs. */
  static NodeParts parts(SuiteOptions options, SuiteSet set) {
    Path code = options.home().resolve("code");
    int n = set.vectors().base().size();
    long components = (long) n * set.vectors().dimension();
    return new NodeParts(
        Path.of(System.getProperty("java.io.tmpdir")),
        "data-" + set.vectors().name() + "-" + n,
        code.resolve("classes"),
        options.home().resolve("jars"),
        code.resolve("plugin"),
        components <= SegmentedIndex.MANY_COMPONENTS ? "4g" : "16g");
  }

  private record IntoFragment(Context context, SuiteSet set) implements Findings {

    @Override
    public void built(String method, double seconds) throws IOException {
      Map<String, Object> row = row(method);
      row.put("threads", context.workers().threads());
      row.put("seconds", Samples.round(seconds, 2));
      context.fragment().add("builds", row);
    }

    @Override
    public void measured(Point point) throws IOException {
      // the floor index holds too few vectors to have the expected neighbours
      if (point.method().equals(NodeTrial.FLOOR) == false) {
        compare(point);
      }
      Map<String, Object> row = row(point.method());
      row.put("placement", point.placement());
      row.put("target", point.target());
      row.put("clients", point.clients());
      row.put("num_candidates", point.numCandidates());
      row.put("recall_at_10", Samples.round(point.recall(), 5));
      row.put("requests_per_second", Samples.round(point.requestsPerSecond(), 1));
      Map<String, Double> cpu = new TreeMap<>();
      point.cpuMicros().forEach((group, micros) -> cpu.put(group, Samples.round(micros, 1)));
      row.put("cpu_us_per_request", cpu);
      row.put("answered", point.answered());
      context.fragment().add("node", row);
      context.say("  %s", row);
    }

    private void compare(Point point) throws IOException {
      Map<String, Object> more = new TreeMap<>();
      more.put("target", point.target());
      more.put("segments", context.options().segments());
      more.put("linger_us", context.options().linger());
      more.put("search_threads", context.options().searchThreads());
      putDevices(more);
      context.add(
          new Measurement(
              set.subject(),
              point.method(),
              point.placement(),
              1,
              point.clients(),
              point.numCandidates(),
              point.recall(),
              BatchRun.thin(point.micros(), SAMPLES),
              more));
    }

    /** Rows of one device do not say so. */
    private void putDevices(Map<String, Object> row) {
      if (context.options().devices() > 1) {
        row.put("devices", context.options().devices());
      }
    }

    @Override
    public void split(Split split) throws IOException {
      Map<String, Object> row = row(split.toMap().get("method").toString());
      row.putAll(split.toMap());
      context.fragment().add("node", row);
      context.say("  %s", row);
    }

    @Override
    public void check(String id, String status, String detail) throws IOException {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("id", id);
      row.put("status", status);
      context.fragment().add("tests", row);
      context.say("%s: %s (%s)", id, status, detail);
    }

    @Override
    public void say(String format, Object... values) {
      context.say(format, values);
    }

    private Map<String, Object> row(String method) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("n", set.vectors().base().size());
      row.put("segments", context.options().segments());
      row.put("linger_us", context.options().linger());
      row.put("search_threads", context.options().searchThreads());
      putDevices(row);
      row.put("method", method);
      return row;
    }
  }
}
