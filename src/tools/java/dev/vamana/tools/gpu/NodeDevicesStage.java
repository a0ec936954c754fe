package dev.vamana.tools.gpu;

import dev.vamana.tools.cells.SegmentedIndex;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.gpu.node.NodeIndex;
import dev.vamana.tools.gpu.node.NodeParts;
import dev.vamana.tools.gpu.node.SingleSearches;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Standard searches over HTTP by 64 clients, of a node with one device and of one with several.
 * Both nodes run at the same time, with the same segments, and are asked in short turns, so that
 * what slows the machine down slows both. {@code --segments} chooses the segments. Needs the
 * suite's part {@code node}. {@link DevicesStage} compares devices below HTTP.
 */
final class NodeDevicesStage implements Stage {

  private static final String INDEX = "vamana";
  private static final int CANDIDATES = 24;
  private static final int CLIENTS = 64;
  // how fast a process becomes differs from start to start by some percent
  private static final int STARTS = 2;
  private static final int ROUNDS = 24;
  private static final double WARM = 16;

  private final String setName;

  NodeDevicesStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException {
    SuiteOptions options = context.options();
    if (options.devices() < 2) {
      throw new IllegalArgumentException("--devices must be 2 or more, got " + options.devices());
    }
    SuiteSet set = SuiteSet.load(options, setName);
    List<SingleSearches> one = new ArrayList<>();
    List<SingleSearches> several = new ArrayList<>();
    for (int start = 0; start < STARTS; start++) {
      List<SingleSearches> found = inTurns(context, set);
      one.add(found.get(0));
      several.add(found.get(1));
    }
    row(context, set, 1, one, 1);
    row(context, set, options.devices(), several, ratio(several, one));
  }

  /** Asks a node with one device and one with several. */
  private static List<SingleSearches> inTurns(Context context, SuiteSet set) throws IOException {
    try (RunningNode one = node(context, set, 1);
        RunningNode several = node(context, set, context.options().devices())) {
      List<RunningNode> nodes = List.of(one, several);
      List<NodeIndex> indices =
          nodes.stream().map(node -> new NodeIndex(node, set.vectors(), INDEX, INDEX)).toList();
      double seconds = context.options().seconds();
      SingleSearches.inTurns(nodes, indices, CANDIDATES, CLIENTS, 1, WARM * seconds);
      List<SingleSearches> found =
          SingleSearches.inTurns(nodes, indices, CANDIDATES, CLIENTS, ROUNDS, seconds);
      for (int i = 0; i < nodes.size(); i++) {
        context.say(
            "requests/s by round %s, CPU microseconds of a request %s, counted %s, devices%n%s",
            Arrays.toString(found.get(i).rounds()),
            found.get(i).cpuMicros(),
            found.get(i).answered(),
            nodes.get(i).client().send("GET", "/_cat/vamana?v", null, "text/plain").body());
      }
      return found;
    }
  }

  private static RunningNode node(Context context, SuiteSet set, int devices) throws IOException {
    SuiteOptions options = context.options();
    NodeParts parts = NodeStage.parts(options, set).in("of-" + devices);
    Map<String, String> settings =
        Map.of(
            "vamana.gpu.devices",
            IntStream.range(0, devices).mapToObj(String::valueOf).collect(Collectors.joining(",")));
    RunningNode node = parts.start(parts.assemble(), "exact", settings);
    boolean ready = false;
    try {
      KnnIndex index = new KnnIndex(node.client(), INDEX, INDEX);
      SegmentedIndex segmented = new SegmentedIndex(node.client(), set.vectors(), index);
      if (segmented.isThere(options.segments()) == false) {
        segmented.createAndFill("hnsw", Map.of("index.vamana.enabled", "true"), options.segments());
      }
      context.say("%s", node.client().post("/" + INDEX + "/_vamana/warmup", null));
      ready = true;
      return node;
    } finally {
      if (ready == false) {
        node.close();
      }
    }
  }

  private static void row(
      Context context, SuiteSet set, int devices, List<SingleSearches> found, double ratio)
      throws IOException {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("n", set.vectors().base().size());
    row.put("what", "standard searches over HTTP, " + context.options().segments() + " segments");
    row.put("devices", devices);
    row.put("placement", "exact");
    row.put("beam", CANDIDATES);
    row.put("batch", 1);
    row.put("callers", CLIENTS);
    row.put("recall_at_10", Samples.round(found.get(0).recall(), 5));
    row.put(
        "qps",
        Samples.round(
            found.stream().mapToDouble(SingleSearches::requestsPerSecond).average().orElseThrow(),
            1));
    row.put("ratio", Samples.round(ratio, 3));
    context.fragment().add(DevicesStage.SECTION, row);
    context.say("%s", row);
  }

  /** The median over all rounds of what several devices do for each request of one. */
  private static double ratio(List<SingleSearches> several, List<SingleSearches> one) {
    double[] ratios =
        IntStream.range(0, several.size() * ROUNDS)
            .mapToDouble(
                i ->
                    several.get(i / ROUNDS).rounds()[i % ROUNDS]
                        / one.get(i / ROUNDS).rounds()[i % ROUNDS])
            .sorted()
            .toArray();
    return ratios[ratios.length / 2];
  }
}
