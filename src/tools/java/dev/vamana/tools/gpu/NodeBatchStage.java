package dev.vamana.tools.gpu;

import dev.vamana.tools.batch.BatchTrial;
import dev.vamana.tools.batch.Kind;
import dev.vamana.tools.gpu.node.NodeIndex;
import dev.vamana.tools.gpu.node.NodeParts;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Measures batched searches of an Elasticsearch node over HTTP, compared with {@code _msearch}.
 * Needs the suite's part {@code node}.
 */
final class NodeBatchStage implements Stage {

  private static final String INDEX = "vamana";
  private static final int K = 10;
  private static final int SAMPLES = 300;

  /** Beam width whose recall@10 is at least 0.95 on the sets at hand. */
  private static final int CANDIDATES = 40;

  private static final int ROUNDS = 3;
  private static final double LONGER = 4;
  private static final List<Kind> HITS_AND_COLUMNS = List.of(Kind.BASE64_HITS, Kind.BASE64_COLUMNS);

  private final String setName;

  NodeBatchStage(String setName) {
    this.setName = setName;
  }

  /**
   * Requests to measure.
   *
   * @param vectors vectors of a request
   * @param clients concurrent clients
   */
  private record Load(int vectors, int clients, List<Kind> kinds) {}

  private static final List<Load> LOADS =
      List.of(
          new Load(1_000, 1, List.of(Kind.values())),
          new Load(1_000, 8, HITS_AND_COLUMNS),
          new Load(10_000, 1, HITS_AND_COLUMNS),
          new Load(10_000, 4, HITS_AND_COLUMNS),
          // four clients leave most of 16 processors idle
          new Load(10_000, 16, List.of(Kind.BASE64_COLUMNS)));

  @Override
  public void run(Context context) throws IOException {
    SuiteOptions options = context.options();
    SuiteSet set = SuiteSet.load(options, setName);
    String mode = NodeParts.OFF;
    if (options.device() >= 0) {
      mode = options.placements().isEmpty() ? "auto" : options.placements().get(0);
    }
    NodeParts parts = NodeStage.parts(options, set);
    NodeHome home = parts.assemble();
    try (RunningNode node = parts.start(home, mode)) {
      NodeIndex index = new NodeIndex(node, set.vectors(), INDEX, INDEX);
      double seconds =
          index.fill(set.vectors().base().size(), Map.of("index.vamana.enabled", "true"));
      context.say("filled and merged in %.1f s", seconds);
      context.say("%s", node.client().post("/" + INDEX + "/_vamana/warmup", null));
      for (Load load : LOADS) {
        for (BatchTrial.Turn turn :
            new BatchTrial(node, INDEX, set.vectors())
                .run(
                    new BatchTrial.Plan(
                        load.vectors(),
                        K,
                        CANDIDATES,
                        load.clients(),
                        ROUNDS,
                        options.seconds() * LONGER,
                        load.kinds()))) {
          add(context, set, mode, load, turn);
        }
      }
    }
  }

  private static void add(
      Context context, SuiteSet set, String mode, Load load, BatchTrial.Turn turn)
      throws IOException {
    context.add(
        new Measurement(
            set.subject(),
            "http " + turn.kind().label(),
            mode,
            load.vectors(),
            load.clients(),
            CANDIDATES,
            turn.recall(),
            BatchRun.thin(turn.micros(), SAMPLES),
            Map.of()));
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("method", "http " + turn.kind().label());
    row.put("placement", mode);
    row.put("vectors_per_request", load.vectors());
    row.put("clients", load.clients());
    row.put("num_candidates", CANDIDATES);
    row.put("recall_at_10", Samples.round(turn.recall(), 5));
    row.put("vectors_per_second", Samples.round(turn.median(), 1));
    Map<String, Double> cpu = new TreeMap<>();
    turn.cpuMicros().forEach((group, micros) -> cpu.put(group, Samples.round(micros, 3)));
    row.put("cpu_us_per_vector", cpu);
    context.fragment().add("node", row);
    context.say("  %s", row);
  }
}
