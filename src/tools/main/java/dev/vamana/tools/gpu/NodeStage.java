package dev.vamana.tools.gpu;

import dev.vamana.tools.batch.BatchTrial;
import dev.vamana.tools.batch.Kind;
import dev.vamana.tools.cells.CellTrial;
import dev.vamana.tools.cells.Median;
import dev.vamana.tools.cells.SegmentedIndex;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.gpu.node.Driver;
import dev.vamana.tools.gpu.node.DriverTrial;
import dev.vamana.tools.gpu.node.NodeParts;
import dev.vamana.tools.gpu.node.NrtTrial;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Measures an Elasticsearch node over HTTP. Needs the suite's part {@code node}. The stock index
 * has native distance functions wherever the suite brings them.
 */
final class NodeStage implements Stage {

  /** Kinds of measurements. */
  enum Kinds {
    /** Standard searches beside the stock index, at equal recall. */
    CELLS,
    /** Batched searches beside {@code _msearch}. */
    BATCH,
    /** As drivers of public benchmarks do. */
    DRIVERS,
    /** Searches beside indexing. */
    NRT
  }

  private static final String INDEX = "vamana";

  /** Candidates with a recall@10 of at least 0.95 on SIFT descriptors, and 0.96 on embeddings. */
  private static final int CANDIDATES = 24;

  private static final int ROUNDS = 3;
  private static final double LONGER = 5;
  private static final double NRT_LONGER = 25;

  private final String setName;
  private final Kinds kind;

  NodeStage(String setName, Kinds kind) {
    this.setName = setName;
    this.kind = kind;
  }

  /** Requests with so many vectors, by so many clients. */
  private record Load(int vectors, int clients, List<Kind> kinds) {}

  private static final List<Load> LOADS =
      List.of(
          new Load(100, 16, List.of(Kind.MSEARCH, Kind.BASE64_HITS, Kind.BASE64_COLUMNS)),
          new Load(1_000, 1, List.of(Kind.values())),
          new Load(1_000, 16, List.of(Kind.BASE64_COLUMNS)),
          new Load(10_000, 4, List.of(Kind.BASE64_HITS, Kind.BASE64_COLUMNS)),
          new Load(10_000, 16, List.of(Kind.BASE64_COLUMNS)));

  @Override
  public void run(Context context) throws IOException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    NodeParts parts = parts(context.options(), set);
    switch (kind) {
      case CELLS -> cells(context, set, parts);
      case BATCH -> batch(context, set, parts);
      case DRIVERS -> drivers(context, set, parts);
      case NRT -> nrt(context, set, parts);
    }
  }

  /** Returns the mode to start a node in: off without a device, else the placement asked for. */
  private static String mode(SuiteOptions options) {
    if (options.device() < 0) {
      return NodeParts.OFF;
    }
    return options.placements().isEmpty() ? "auto" : options.placements().get(0);
  }

  /** Returns the parts of a node, which keeps its indices of a set between runs. */
  private NodeParts parts(SuiteOptions options, SuiteSet set) {
    Path code = options.home().resolve("code");
    long components = (long) set.vectors().base().size() * set.vectors().dimension();
    return new NodeParts(
        Path.of(System.getProperty("java.io.tmpdir")),
        "data-" + set.index("es"),
        code.resolve("classes"),
        options.home().resolve("jars"),
        code.resolve("plugin"),
        components <= SegmentedIndex.MANY_COMPONENTS ? "4g" : "16g");
  }

  private static void cells(Context context, SuiteSet set, NodeParts parts) throws IOException {
    SuiteOptions options = context.options();
    String mode = mode(options);
    NodeHome home = parts.assemble();
    CellTrial.Nodes nodes =
        new CellTrial.Nodes() {
          @Override
          public RunningNode filler() throws IOException {
            return parts.start(home, mode, CellTrial.SETTINGS);
          }

          @Override
          public void filled() throws IOException {
            // both are copies, so that their files are laid out alike
            parts.copiedTo("gpu");
            parts.copiedTo(NodeParts.OFF);
          }

          @Override
          public RunningNode start(boolean gpu) throws IOException {
            NodeParts copy = parts.in(gpu ? "gpu" : NodeParts.OFF);
            return copy.start(copy.assemble(), gpu ? mode : NodeParts.OFF, CellTrial.SETTINGS);
          }
        };
    new CellTrial(
            new CellTrial.Plan(
                set.vectors(),
                mode.equals(NodeParts.OFF) == false,
                options.segments(),
                options.clients(),
                options.seconds(),
                options.starts()),
            context.figures(),
            context.out()::println)
        .run(nodes);
  }

  private static void batch(Context context, SuiteSet set, NodeParts parts) throws IOException {
    SuiteOptions options = context.options();
    String mode = mode(options);
    try (RunningNode node = parts.start(parts.assemble(), mode, Map.of())) {
      KnnIndex index = new KnnIndex(node.client(), INDEX, INDEX);
      SegmentedIndex segmented = new SegmentedIndex(node.client(), set.vectors(), index);
      if (segmented.isThere(1) == false) {
        segmented.createAndFill("hnsw", Map.of("index.vamana.enabled", "true"), 1);
      }
      context.say("%s", node.client().post("/" + INDEX + "/_vamana/warmup", null));
      for (Load load : LOADS) {
        if (options.batches().contains(load.vectors())) {
          BatchTrial.Plan plan =
              new BatchTrial.Plan(
                  load.vectors(),
                  BenchStage.K,
                  CANDIDATES,
                  load.clients(),
                  ROUNDS,
                  options.seconds() * LONGER,
                  load.kinds());
          for (BatchTrial.Turn turn : new BatchTrial(node, INDEX, set.vectors()).run(plan)) {
            context.searched(
                set.subject(),
                "http " + turn.kind().label(),
                mode,
                load.vectors(),
                load.clients(),
                turn.recall(),
                Median.of(turn.speeds()),
                Median.of(turn.micros()));
          }
        }
      }
    }
  }

  /**
   * Measures the plugin with a GPU, which builds graphs, too, without, and the stock index. {@code
   * --methods} chooses among the three, {@code --loaders} is the number of concurrent bulk
   * requests.
   */
  private static void drivers(Context context, SuiteSet set, NodeParts parts) throws IOException {
    SuiteOptions options = context.options();
    NodeHome home = parts.assemble();
    DriverTrial trial =
        new DriverTrial(
            new DriverTrial.Plan(set.vectors(), options.loaders(), options.seconds() * LONGER),
            new DriverTrial.Findings() {
              @Override
              public void spent(String driver, String method, String what, double seconds)
                  throws IOException {
                String name = driver + " " + what + " " + method;
                context.built(set.subject(), name, options.loaders(), seconds);
              }

              @Override
              public void searched(String driver, String method, DriverTrial.Search search)
                  throws IOException {
                context.searched(
                    set.subject(),
                    driver,
                    method,
                    1,
                    search.clients(),
                    search.recall(),
                    search.times().perSecond(),
                    search.times().quantile(0.5));
                context.say("p99 %.1f us", search.times().quantile(0.99));
              }
            });
    for (String method : DriverTrial.METHODS) {
      boolean gpu = method.equals(DriverTrial.GPU);
      if (options.wants(method) && (gpu == false || options.device() >= 0)) {
        Map<String, String> settings = Map.of("vamana.gpu.build", gpu ? "auto" : "off");
        try (RunningNode node = parts.start(home, gpu ? mode(options) : NodeParts.OFF, settings)) {
          for (Driver driver : Driver.ALL) {
            trial.run(node, driver, method);
          }
        }
      }
    }
  }

  private static void nrt(Context context, SuiteSet set, NodeParts parts) throws IOException {
    SuiteOptions options = context.options();
    NodeHome home = parts.assemble();
    for (NrtTrial.Kind kind : NrtTrial.Kind.values()) {
      boolean gpu = kind.gpu();
      if (options.wants(kind.label()) && (gpu == false || options.device() >= 0)) {
        for (int rate : options.rates()) {
          for (int clients : options.clients()) {
            // a fresh node: what it has compiled and built would help the next measurement
            try (RunningNode node =
                parts.start(home, gpu ? mode(options) : NodeParts.OFF, Map.of())) {
              new NrtTrial(node, set.vectors(), context.figures(), context.out()::println)
                  .run(kind, rate, clients, NRT_LONGER * options.seconds());
            }
          }
        }
      }
    }
  }
}
