package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.io.PrintStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Compares an opted-in index with the stock one on a real node.
 *
 * <p>The last line on standard output starts with {@code demo:} and carries the figures. The exit
 * status is 0 if recall@10 of our index at num_candidates 100 is at least 0.95, 1 if it is not, and
 * 2 if there is no result.
 */
public final class Demo {

  private static final double WANTED_RECALL = 0.95;
  private static final int BULK_SIZE = 500;
  private static final int CLIENTS = 8;
  private static final int ROUNDS = 4;
  private static final double ROUND_SECONDS = 2.5;
  private static final double WARM_UP_SECONDS = 3;

  private final DemoOptions options;
  private final PrintStream out;
  private final Progress progress;

  private Demo(DemoOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
    this.progress = new Progress(out);
  }

  /**
   * Runs the demo and ends this JVM.
   *
   * @param arguments {@code --name=value}; docs/operators/demo.md has the names
   */
  public static void main(String[] arguments) {
    System.setProperty("java.awt.headless", "true");
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    int status;
    try {
      status = new Demo(DemoOptions.parse(arguments), out).run() ? 0 : 1;
    } catch (IOException | IllegalArgumentException | IllegalStateException e) {
      if (e.getCause() != null) {
        e.printStackTrace(out);
      }
      out.println("demo: no result: " + e.getMessage());
      status = 2;
    }
    System.exit(status);
  }

  private boolean run() throws IOException {
    if (Files.isRegularFile(options.plugin()) == false) {
      throw new IllegalArgumentException(
          "there is no plugin zip at " + options.plugin() + ": 'mvn package' makes it");
    }
    checkPort(options.port());
    DemoSet set = DemoSet.of(options, progress);
    checkVectors(set.vectors());
    NodeHome home = NodeHome.assemble(Path.of("target/node/demo"), options.plugin());
    try {
      return run(home, set);
    } finally {
      home.delete();
    }
  }

  private boolean run(NodeHome home, DemoSet set) throws IOException {
    try (RunningNode node = startNode(home)) {
      KnnIndex ours = new KnnIndex(node.client(), "demo-vamana", "demo-vamana (this plugin)");
      KnnIndex stock = new KnnIndex(node.client(), "demo-hnsw", "demo-hnsw (stock)");
      List<KnnIndex> indices = List.of(ours, stock);
      int dimension = set.vectors().dimension();
      ours.create(dimension, set.vectors().metric(), Map.of("index.vamana.enabled", "true"));
      stock.create(dimension, set.vectors().metric(), Map.of());
      fill(indices, set);
      List<Figures> figures = measure(indices, set);
      return report(figures, set, node);
    }
  }

  private static void checkPort(int port) throws IOException {
    try (ServerSocket free = new ServerSocket()) {
      free.setReuseAddress(true);
      free.bind(new InetSocketAddress("127.0.0.1", port));
    } catch (BindException e) {
      // the cause would say no more, and print a stack trace
      throw new IllegalArgumentException(
          "port "
              + port
              + " of 127.0.0.1 is in use, perhaps by a node that an earlier demo left running: end"
              + " it, or give another port with -Dport=<n>");
    }
  }

  private static void checkVectors(VectorSet vectors) {
    if (vectors.base().size() < Sweep.K) {
      throw new IllegalArgumentException(
          "the set has " + vectors.base().size() + " vectors, at least " + Sweep.K + " are needed");
    }
  }

  private RunningNode startNode(NodeHome home) throws IOException {
    try (Progress.Running starting =
        progress.during("starting Elasticsearch 9.5.3 with the plugin in " + home.root())) {
      if (home.hasZstd() == false) {
        progress.say("the system has no libzstd: the node runs without native access");
      }
      RunningNode node =
          RunningNode.start(
              home,
              NodeOptions.defaults()
                  .withHeap(options.heap())
                  .withSetting("http.port", Integer.toString(options.port())));
      progress.say("Elasticsearch answers at %s", node.httpUri());
      return node;
    }
  }

  /** Sends each batch to both indices, so that both meet the same state of node and client. */
  private void fill(List<KnnIndex> indices, DemoSet set) throws IOException {
    float[][] base = set.vectors().base().rows();
    double lastLine = progress.seconds();
    for (int from = 0; from < base.length; from += BULK_SIZE) {
      int to = Math.min(base.length, from + BULK_SIZE);
      StringBuilder lines = new StringBuilder();
      for (int id = from; id < to; id++) {
        KnnIndex.appendDocument(lines, id, base[id]);
      }
      for (KnnIndex index : indices) {
        index.bulk(lines.toString());
      }
      if (progress.seconds() - lastLine > 3 || to == base.length) {
        progress.say("indexed %,d of %,d vectors into each index", to, base.length);
        lastLine = progress.seconds();
      }
    }
    for (KnnIndex index : indices) {
      try (Progress.Running merging =
          progress.during("refreshing " + index.name() + " and merging it to one segment")) {
        index.finish();
      }
    }
  }

  private List<Figures> measure(List<KnnIndex> indices, DemoSet set) throws IOException {
    List<String> queries = new ArrayList<>();
    for (float[] query : set.vectors().queries().rows()) {
      queries.add(KnnIndex.query(query, Sweep.K, Figures.NUM_CANDIDATES));
    }
    Load load = new Load(queries);
    for (KnnIndex index : indices) {
      try (Progress.Running warming = progress.during("warming " + index.name())) {
        load.run(index, 1, WARM_UP_SECONDS);
        load.run(index, CLIENTS, WARM_UP_SECONDS);
      }
    }
    List<List<Sweep.Point>> sweep = new Sweep(set, indices, progress).run();
    List<Load.Result> single = inTurn(load, indices, 1);
    List<Load.Result> eight = inTurn(load, indices, CLIENTS);
    List<Figures> figures = new ArrayList<>();
    for (int i = 0; i < indices.size(); i++) {
      KnnIndex index = indices.get(i);
      figures.add(
          new Figures(
              index,
              single.get(i),
              eight.get(i),
              sweep.get(i),
              index.indexSeconds(),
              index.bytes(),
              index.segments()));
    }
    return figures;
  }

  /** Several rounds, in each of which every index is asked; the first of a round changes. */
  private List<Load.Result> inTurn(Load load, List<KnnIndex> indices, int clients)
      throws IOException {
    String what = clients == 1 ? "1 client" : clients + " clients";
    try (Progress.Running running = progress.during("measuring with " + what)) {
      Load.Result[] results = new Load.Result[indices.size()];
      for (int round = 0; round < ROUNDS; round++) {
        for (int turn = 0; turn < indices.size(); turn++) {
          int i = (turn + round) % indices.size();
          Load.Result result = load.run(indices.get(i), clients, ROUND_SECONDS);
          results[i] = results[i] == null ? result : results[i].and(result);
        }
      }
      for (int i = 0; i < results.length; i++) {
        progress.say(
            "  %s: %s, %.0f queries/s, p50 %.2f ms, p99 %.2f ms",
            indices.get(i).name(),
            what,
            results[i].queriesPerSecond(),
            results[i].latencies().quantileMillis(0.5),
            results[i].latencies().quantileMillis(0.99));
      }
      return List.of(results);
    }
  }

  private boolean report(List<Figures> figures, DemoSet set, RunningNode node) throws IOException {
    int cores = Runtime.getRuntime().availableProcessors();
    String machine =
        String.format(
            Locale.ROOT,
            "Elasticsearch 9.5.3 with a heap of %s and Java %s on %s %s, %d cores.",
            options.heap(),
            Runtime.version(),
            System.getProperty("os.name"),
            System.getProperty("os.arch"),
            cores);
    Files.createDirectories(options.out());
    Path page = options.out().resolve("report.html");
    Files.writeString(page, new Report(set, figures, machine).html(cores));
    out.println();
    out.println(set.description() + "; metric " + set.vectors().metric().label());
    out.println(machine);
    out.println();
    ResultTable.of(figures).lines().forEach(out::println);
    out.println();
    ResultTable.notes(set.vectors().metric(), cores).forEach(out::println);
    out.println("report: " + page);
    Figures ours = figures.get(0);
    boolean good = ours.recall() >= WANTED_RECALL;
    if (options.keep()) {
      new KeptNode(node, ours.index(), set, options.out()).announce(out);
    }
    out.println(summary(figures, set, good));
    if (options.keep()) {
      KeptNode.awaitParent(node);
    }
    return good;
  }

  private String summary(List<Figures> figures, DemoSet set, boolean good) {
    Figures ours = figures.get(0);
    Figures stock = figures.get(1);
    return String.format(
        Locale.ROOT,
        "demo: %s recall@10 %.4f at num_candidates %d (wanted %.2f, stock %.4f);"
            + " p50 %.2f ms, p99 %.2f ms (stock %.2f, %.2f);"
            + " %.0f queries/s with 1 client, %.0f with %d (stock %.0f, %.0f);"
            + " index time %.1f s, size %.1f MB (stock %.1f, %.1f);"
            + " %d vectors of %d dimensions; %.0f s in all",
        good ? "ok" : "FAILED",
        ours.recall(),
        Figures.NUM_CANDIDATES,
        WANTED_RECALL,
        stock.recall(),
        ours.p50Millis(),
        ours.p99Millis(),
        stock.p50Millis(),
        stock.p99Millis(),
        ours.single().queriesPerSecond(),
        ours.eight().queriesPerSecond(),
        CLIENTS,
        stock.single().queriesPerSecond(),
        stock.eight().queriesPerSecond(),
        ours.indexSeconds(),
        ours.megabytes(),
        stock.indexSeconds(),
        stock.megabytes(),
        set.vectors().base().size(),
        set.vectors().dimension(),
        progress.seconds());
  }
}
