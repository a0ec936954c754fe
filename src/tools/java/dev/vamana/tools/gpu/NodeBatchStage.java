package dev.vamana.tools.gpu;

import dev.vamana.tools.batch.BatchTrial;
import dev.vamana.tools.batch.Kind;
import dev.vamana.tools.gpu.node.NodeIndex;
import dev.vamana.tools.gpu.node.NodeParts;
import dev.vamana.tools.gpu.node.SingleSearches;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Measures batched searches of an Elasticsearch node over HTTP, beside {@code _msearch} and
 * standard searches of one vector. {@code --batches} chooses the numbers of vectors of a request, 1
 * for standard searches. Needs the suite's part {@code node}.
 */
final class NodeBatchStage implements Stage {

  private static final String INDEX = "vamana";
  private static final int K = 10;
  private static final int SAMPLES = 300;

  /** Candidates with a recall@10 of at least 0.95 on SIFT descriptors, and 0.96 on embeddings. */
  private static final int CANDIDATES = 24;

  private static final int ROUNDS = 3;
  private static final double LONGER = 4;
  private static final int SINGLE_CLIENTS = 64;
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
          new Load(100, 16, List.of(Kind.MSEARCH, Kind.BASE64_HITS, Kind.BASE64_COLUMNS)),
          new Load(1_000, 1, List.of(Kind.values())),
          new Load(1_000, 8, HITS_AND_COLUMNS),
          new Load(1_000, 16, List.of(Kind.BASE64_COLUMNS)),
          new Load(10_000, 1, HITS_AND_COLUMNS),
          new Load(10_000, 4, HITS_AND_COLUMNS),
          // four clients leave most of 16 processors idle
          new Load(10_000, 16, List.of(Kind.BASE64_COLUMNS)),
          new Load(10_000, 32, List.of(Kind.BASE64_COLUMNS)));

  @Override
  public void run(Context context) throws IOException {
    SuiteOptions options = context.options();
    SuiteSet set = SuiteSet.load(options, setName);
    String mode = NodeStage.mode(options);
    NodeParts parts = NodeStage.parts(options, set);
    NodeHome home = parts.assemble();
    try (RunningNode node = parts.start(home, mode)) {
      NodeIndex index = new NodeIndex(node, set.vectors(), INDEX, INDEX);
      double seconds =
          index.fill(set.vectors().base().size(), Map.of("index.vamana.enabled", "true"));
      context.say("filled and merged in %.1f s", seconds);
      context.say("%s", node.client().post("/" + INDEX + "/_vamana/warmup", null));
      if (options.batches().contains(1)) {
        add(
            context,
            set,
            mode,
            new Load(1, SINGLE_CLIENTS, List.of()),
            Answered.of(
                SingleSearches.run(
                    node, index, CANDIDATES, SINGLE_CLIENTS, ROUNDS, options.seconds() * LONGER)));
      }
      for (Load load : LOADS) {
        if (options.batches().contains(load.vectors()) == false) {
          continue;
        }
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
          add(context, set, mode, load, Answered.of(turn));
        }
      }
    }
  }

  /**
   * What requests of one kind did.
   *
   * @param micros time of each request
   * @param vectorsPerSecond median of the rounds
   * @param cpuMicros processor time of the node for a vector, by group of threads
   */
  private record Answered(
      String kind,
      double recall,
      double[] micros,
      double vectorsPerSecond,
      Map<String, Double> cpuMicros) {

    static Answered of(SingleSearches singles) {
      return new Answered(
          "_search",
          singles.recall(),
          singles.micros(),
          singles.requestsPerSecond(),
          singles.cpuMicros());
    }

    static Answered of(BatchTrial.Turn turn) {
      return new Answered(
          turn.kind().label(), turn.recall(), turn.micros(), turn.median(), turn.cpuMicros());
    }
  }

  private static void add(Context context, SuiteSet set, String mode, Load load, Answered answered)
      throws IOException {
    String method = "http " + answered.kind();
    context.add(
        new Measurement(
            set.subject(),
            method,
            mode,
            load.vectors(),
            load.clients(),
            CANDIDATES,
            answered.recall(),
            BatchRun.thin(answered.micros(), SAMPLES),
            Map.of()));
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("method", method);
    row.put("placement", mode);
    row.put("vectors_per_request", load.vectors());
    row.put("clients", load.clients());
    row.put("num_candidates", CANDIDATES);
    row.put("recall_at_10", Samples.round(answered.recall(), 5));
    row.put("vectors_per_second", Samples.round(answered.vectorsPerSecond(), 1));
    Map<String, Double> cpu = new TreeMap<>();
    answered.cpuMicros().forEach((group, time) -> cpu.put(group, Samples.round(time, 3)));
    row.put("cpu_us_per_vector", cpu);
    context.fragment().add("node", row);
    context.say("  %s", row);
  }
}
