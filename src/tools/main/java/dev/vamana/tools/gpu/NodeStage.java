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
import dev.vamana.tools.gpu.node.PluginZips;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.nio.file.Files;
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
    /** Standard searches of stock indices, by the GPU and by the CPU. */
    STOCK_CELLS,
    /** Batched searches beside {@code _msearch}. */
    BATCH,
    /** As drivers of public benchmarks do. */
    DRIVERS,
    /** Searches beside indexing. */
    NRT
  }

  // components of sets whose nodes need so little heap
  private static final long FEW_COMPONENTS = 1 << 20;
  private static final long MANY = 1 << 26;

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
      case CELLS, STOCK_CELLS -> cells(context, set, parts);
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

  /**
   * Returns the parts of a node, which keeps its indices of a set between runs. In a build the
   * plugin's zip is there; the suite packs it of its parts.
   */
  private static NodeParts parts(SuiteOptions options, SuiteSet set) throws IOException {
    boolean built = options.plugin() != null;
    Path folder =
        built
            ? options.home().resolve("node").toAbsolutePath()
            : Path.of(System.getProperty("java.io.tmpdir"));
    Path plugin = built ? options.plugin() : folder.resolve("vamana.zip");
    if (built == false) {
      Path code = options.home().resolve("code");
      Files.createDirectories(folder);
      PluginZips.ours(
          plugin, code.resolve("classes"), options.home().resolve("jars"), code.resolve("plugin"));
    }
    long components = (long) set.size() * set.vectors().dimension();
    String heap = components <= FEW_COMPONENTS ? "1g" : components <= MANY ? "4g" : "16g";
    return new NodeParts(folder, "data-" + set.index("es"), plugin, heap);
  }

  private void cells(Context context, SuiteSet set, NodeParts parts) throws IOException {
    SuiteOptions options = context.options();
    new CellTrial(
            new CellTrial.Plan(
                set.vectors(),
                mode(options),
                options.segments(),
                options.clients(),
                options.seconds(),
                options.starts(),
                kind == Kinds.STOCK_CELLS),
            context.figures(),
            context.out()::println)
        .run(parts);
  }

  private static void batch(Context context, SuiteSet set, NodeParts parts) throws IOException {
    SuiteOptions options = context.options();
    String mode = mode(options);
    try (RunningNode node = parts.start(mode, Map.of())) {
      KnnIndex index = new KnnIndex(node.client(), INDEX, INDEX);
      new SegmentedIndex(node.client(), set.vectors(), index)
          .fill("hnsw", Map.of("index.vamana.enabled", "true"), 1);
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
    DriverTrial trial =
        new DriverTrial(
            set.vectors(),
            options.loaders(),
            options.seconds() * LONGER,
            context.figures(),
            context.out()::println);
    for (String method : DriverTrial.METHODS) {
      boolean gpu = method.equals(DriverTrial.GPU);
      if (options.wants(method) && (gpu == false || options.device() >= 0)) {
        Map<String, String> settings = Map.of("vamana.gpu.build", gpu ? "auto" : "off");
        try (RunningNode node = parts.start(gpu ? mode(options) : NodeParts.OFF, settings)) {
          for (Driver driver : Driver.ALL) {
            trial.run(node, driver, method);
          }
        }
      }
    }
  }

  private static void nrt(Context context, SuiteSet set, NodeParts parts) throws IOException {
    SuiteOptions options = context.options();
    for (NrtTrial.Kind kind : NrtTrial.Kind.values()) {
      boolean gpu = kind.gpu();
      if (options.wants(kind.label()) && (gpu == false || options.device() >= 0)) {
        for (int rate : options.rates()) {
          for (int clients : options.clients()) {
            // a fresh node: what it has compiled and built would help the next measurement
            try (RunningNode node = parts.start(gpu ? mode(options) : NodeParts.OFF, Map.of())) {
              new NrtTrial(node, set.vectors(), context.figures(), context.out()::println)
                  .run(kind, rate, clients, NRT_LONGER * options.seconds());
            }
          }
        }
      }
    }
  }
}
