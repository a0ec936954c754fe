package dev.vamana.tools.batch;

import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.gpu.node.ThreadTimes;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Starts a node with the plugin, fills one index, and asks it for the neighbours of the same query
 * vectors through {@code _msearch} and through batched searches, which take turns.
 */
public final class BatchBenchmark {
  private static final String INDEX = "batch-benchmark";
  private static final int BULK_SIZE = 500;

  private final BatchOptions options;
  private final PrintStream out;
  private final VectorSet set;

  private BatchBenchmark(BatchOptions options, PrintStream out) throws IOException {
    this.options = options;
    this.out = out;
    set = VectorSet.load(options.set(), options.metric(), options.limit());
  }

  /** Runs it; docs/benchmarking.md has the arguments. */
  public static void main(String[] arguments) throws IOException {
    new BatchBenchmark(BatchOptions.parse(arguments), System.out).run();
  }

  private void run() throws IOException {
    NodeHome home =
        NodeHome.assemble(Path.of("target", "node", "batch-benchmark"), options.plugin());
    NodeOptions node = NodeOptions.defaults().withHeap(options.heap());
    for (Map.Entry<String, String> setting : options.settings().entrySet()) {
      node = node.withSetting(setting.getKey(), setting.getValue());
    }
    if (options.data() != null) {
      node = node.withSetting("path.data", options.data().toAbsolutePath().toString());
    }
    try (RunningNode running = RunningNode.start(home, node)) {
      fill(running.client());
      URI index = running.httpUri().resolve("/" + INDEX + "/");
      try (Clients clients = new Clients(index, options.clients())) {
        measure(clients, running);
      }
    } finally {
      home.delete();
    }
  }

  private void fill(NodeClient client) throws IOException {
    KnnIndex index = new KnnIndex(client, INDEX, INDEX);
    float[][] base = set.base().rows();
    if (client.send("GET", "/" + INDEX, null, "application/json").status() == 200) {
      client.get("/_cluster/health/" + INDEX + "?wait_for_status=yellow&timeout=120s");
      Object count = client.get("/" + INDEX + "/_count").get("count");
      if (Integer.valueOf(base.length).equals(count) && index.segments() == 1) {
        return;
      }
      client.delete("/" + INDEX);
    }
    long start = System.nanoTime();
    index.create(set.dimension(), set.metric(), Map.of("index.vamana.enabled", "true"));
    for (int from = 0; from < base.length; from += BULK_SIZE) {
      StringBuilder lines = new StringBuilder();
      for (int id = from; id < Math.min(base.length, from + BULK_SIZE); id++) {
        KnnIndex.appendDocument(lines, id, base[id]);
      }
      client.bulk("/" + INDEX + "/_bulk", lines.toString());
    }
    index.finish();
    say("filled and merged in %.1f s", (System.nanoTime() - start) / 1e9);
  }

  private void measure(Clients clients, RunningNode node) throws IOException {
    say(
        "%s: %d vectors of %d dimensions, %d query vectors a request, k %d, num_candidates %d,"
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
    Map<Kind, List<byte[]>> bodies = new EnumMap<>(Kind.class);
    Map<Kind, Double> recalls = new EnumMap<>(Kind.class);
    Map<Kind, double[]> speeds = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      bodies.put(kind, bodies(kind));
      recalls.put(kind, recall(clients, kind, bodies.get(kind)));
      speeds.put(kind, new double[options.rounds()]);
    }
    for (int round = -1; round < options.rounds(); round++) {
      for (int turn = 0; turn < Kind.values().length; turn++) {
        Kind kind = Kind.values()[(turn + Math.max(0, round)) % Kind.values().length];
        double speed =
            clients.requestsPerSecond(kind, bodies.get(kind), options.seconds())
                * options.vectors();
        // the first round warms the node up
        if (round >= 0) {
          speeds.get(kind)[round] = speed;
        }
      }
    }
    double standard = median(speeds.get(Kind.MSEARCH));
    say("%-26s %12s %20s %8s %10s", "request", "vectors/s", "lowest to highest", "ratio", "recall");
    for (Kind kind : Kind.values()) {
      double[] speed = speeds.get(kind);
      say(
          "%-26s %12.0f %20s %8.2f %10.4f",
          kind.label(),
          median(speed),
          text(
              "%.0f to %.0f",
              Arrays.stream(speed).min().orElseThrow(), Arrays.stream(speed).max().orElseThrow()),
          median(speed) / standard,
          recalls.get(kind));
    }
    say("microseconds of the node's processor time for a vector, by group of threads:");
    for (Kind kind : Kind.values()) {
      ThreadTimes before = ThreadTimes.of(node);
      long start = System.nanoTime();
      double perSecond = clients.requestsPerSecond(kind, bodies.get(kind), options.seconds());
      long vectors = Math.round(perSecond * (System.nanoTime() - start) / 1e9) * options.vectors();
      StringBuilder line = new StringBuilder();
      ThreadTimes.of(node)
          .microsPerRequest(before, vectors)
          .forEach((group, micros) -> line.append(text(" %s %.2f", group, micros)));
      say("%-26s%s", kind.label(), line);
    }
  }

  /** Requests that together ask for every query at least once. */
  private List<byte[]> bodies(Kind kind) {
    float[][] queries = set.queries().rows();
    List<byte[]> bodies = new ArrayList<>();
    for (int first = 0; first < queries.length; first += options.vectors()) {
      float[][] vectors = new float[options.vectors()][];
      for (int i = 0; i < vectors.length; i++) {
        vectors[i] = queries[(first + i) % queries.length];
      }
      bodies.add(kind.body(vectors, options.k(), options.candidates()));
    }
    return bodies;
  }

  private double recall(Clients clients, Kind kind, List<byte[]> bodies) throws IOException {
    int queries = set.queries().size();
    Recall recall = new Recall(set, options.k());
    long hits = 0;
    long wanted = 0;
    int query = 0;
    for (byte[] body : bodies) {
      for (int[] ids : kind.ids(clients.ask(kind, body))) {
        hits += recall.hits(query % queries, ids);
        wanted += options.k();
        query++;
      }
    }
    return (double) hits / wanted;
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private void say(String format, Object... values) {
    out.println(text(format, values));
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
