package dev.vamana.tools.gpu;

import dev.vamana.tools.gpu.node.NeighborsTrial;
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
 * Times {@code POST /{index}/_vamana/neighbors} over all documents of a node's index, and says how
 * many of the exact neighbours it wrote. {@code --batches} and {@code --slices} choose its
 * requests. Needs the suite's part {@code node}.
 */
final class NeighborsStage implements Stage {

  /** Section of the report. */
  static final String SECTION = "neighbors";

  private static final String INDEX = "vamana";
  private static final int[] CANDIDATES = {32, 100};
  private static final List<Integer> BATCHES = List.of(1_000, 10_000);

  /** The first round meets a node that has compiled little yet. */
  private static final int ROUNDS = 2;

  private final String setName;

  NeighborsStage(String setName) {
    this.setName = setName;
  }

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
          index.fill(
              set.vectors().base().size(),
              options.segments(),
              Map.of("index.vamana.enabled", "true"));
      context.say("filled and merged in %.1f s", seconds);
      context.say("%s", node.client().post("/" + INDEX + "/_vamana/warmup", null));
      NeighborsTrial trial = new NeighborsTrial(node, INDEX, set.vectors());
      for (int round = 1; round <= ROUNDS; round++) {
        for (int numCandidates : CANDIDATES) {
          for (int batch : BATCHES) {
            if (options.batches().contains(batch)) {
              for (int slices : options.slices()) {
                NeighborsTrial.Load load = new NeighborsTrial.Load(numCandidates, batch, slices);
                add(context, set, mode, round, load, trial.run(load), trial.overlap());
              }
            }
          }
        }
      }
    }
  }

  private static void add(
      Context context,
      SuiteSet set,
      String mode,
      int round,
      NeighborsTrial.Load load,
      NeighborsTrial.Run run,
      double overlap)
      throws IOException {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("n", set.vectors().base().size());
    row.put("dims", set.vectors().dimension());
    row.put("placement", mode);
    row.put("threads", context.workers().threads());
    row.put("k", NeighborsTrial.K);
    row.put("beam", load.numCandidates());
    row.put("batch", load.batch());
    row.put("slices", load.slices());
    row.put("round", round);
    row.put("seconds", Samples.round(run.seconds(), 2));
    row.put("overlap_at_10", Samples.round(overlap, 5));
    Map<String, Double> cpu = new TreeMap<>();
    run.cpuMicros().forEach((group, time) -> cpu.put(group, Samples.round(time, 1)));
    row.put("cpu_us_per_document", cpu);
    row.put("items_by_placement", run.answered().getOrDefault("items_by_placement", Map.of()));
    row.put("items_on_cpu", run.answered().getOrDefault("items_on_cpu", Map.of()));
    context.fragment().add(SECTION, row);
    context.say("  %s", row);
  }
}
