package dev.vamana.tools.batch;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.gpu.node.NodeIndex;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Compares batched searches with {@code _msearch}. Starts a node with the plugin, fills one index,
 * and sends the same query vectors through {@code _msearch} and through batched searches in turns.
 */
public final class BatchBenchmark {
  private static final String INDEX = "batch-benchmark";

  private final BatchOptions options;
  private final PrintStream out;
  private final VectorSet set;

  private BatchBenchmark(BatchOptions options, PrintStream out) throws IOException {
    this.options = options;
    this.out = out;
    set = VectorSet.load(options.set(), options.metric(), options.limit());
  }

  /** Runs the benchmark; docs/internals/benchmarking.md documents the arguments. */
  public static void main(String[] arguments) throws IOException {
    new BatchBenchmark(BatchOptions.parse(arguments), System.out).run();
  }

  private void run() throws IOException {
    NodeHome home =
        NodeHome.assemble(Path.of("target", "node", "batch-benchmark"), options.plugin());
    NodeOptions node = NodeOptions.defaults().withHeap(options.heap());
    node = node.withJvmArguments(options.jvm().toArray(String[]::new));
    for (Map.Entry<String, String> setting : options.settings().entrySet()) {
      node = node.withSetting(setting.getKey(), setting.getValue());
    }
    if (options.data() != null) {
      node = node.withSetting("path.data", options.data().toAbsolutePath().toString());
    }
    try (RunningNode running = RunningNode.start(home, node)) {
      double seconds =
          new NodeIndex(running, set, INDEX, INDEX).fill(set.base().size(), indexSettings());
      if (seconds > 0) {
        say("filled and merged in %.1f s", seconds);
      }
      say(
          "%s: %d vectors of %d dimensions, %d query vectors per request, k %d, num_candidates %d,"
              + " %d clients, %d rounds of %d s, %d processors",
          set.name(),
          set.base().size(),
          set.dimension(),
          options.vectors(),
          options.k(),
          options.candidates(),
          options.clients(),
          options.rounds(),
          options.seconds(),
          Runtime.getRuntime().availableProcessors());
      BatchTrial.Plan plan =
          new BatchTrial.Plan(
              options.vectors(),
              options.k(),
              options.candidates(),
              options.clients(),
              options.rounds(),
              options.seconds(),
              options.kinds());
      report(new BatchTrial(running, INDEX, set).run(plan));
    } finally {
      home.delete();
    }
  }

  private Map<String, String> indexSettings() {
    Map<String, String> settings = new LinkedHashMap<>(options.index());
    settings.put("index.vamana.enabled", "true");
    return settings;
  }

  private void report(List<BatchTrial.Turn> turns) {
    double standard = turns.get(0).median();
    say("%-26s %12s %20s %8s %10s", "request", "vectors/s", "lowest to highest", "ratio", "recall");
    for (BatchTrial.Turn turn : turns) {
      say(
          "%-26s %12.0f %20s %8.2f %10.4f",
          turn.kind().label(),
          turn.median(),
          text(
              "%.0f to %.0f",
              Arrays.stream(turn.speeds()).min().orElseThrow(),
              Arrays.stream(turn.speeds()).max().orElseThrow()),
          turn.median() / standard,
          turn.recall());
    }
    say("CPU microseconds per query vector, of the clients and of the node's groups of threads:");
    for (BatchTrial.Turn turn : turns) {
      StringBuilder line = new StringBuilder();
      turn.cpuMicros().forEach((group, micros) -> line.append(text(" %s %.2f", group, micros)));
      say("%-26s%s", turn.kind().label(), line);
    }
  }

  private void say(String format, Object... values) {
    out.println(text(format, values));
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
