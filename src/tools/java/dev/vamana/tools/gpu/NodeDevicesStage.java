package dev.vamana.tools.gpu;

import dev.vamana.tools.gpu.node.NodeIndex;
import dev.vamana.tools.gpu.node.NodeParts;
import dev.vamana.tools.gpu.node.SingleSearches;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Standard searches of a node over HTTP by 64 clients, with one device and with several, in turns:
 * the node is restarted with the other devices and searches the same index. {@code --segments}
 * chooses the segments. Needs the suite's part {@code node}. {@link DevicesStage} compares devices
 * below HTTP.
 */
final class NodeDevicesStage implements Stage {

  private static final String INDEX = "vamana";
  private static final int CANDIDATES = 24;
  private static final int CLIENTS = 64;
  private static final int TURNS = 2;
  private static final int ROUNDS = 3;
  private static final double LONGER = 4;

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
    NodeParts parts = NodeStage.parts(options, set);
    NodeHome home = parts.assemble();
    Map<Integer, List<SingleSearches>> found = new TreeMap<>();
    for (int turn = 0; turn < TURNS; turn++) {
      for (int devices : new int[] {1, options.devices()}) {
        found
            .computeIfAbsent(devices, count -> new ArrayList<>())
            .add(turn(context, set, parts, home, devices));
      }
    }
    double one = speed(found.get(1));
    for (Map.Entry<Integer, List<SingleSearches>> each : found.entrySet()) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("n", set.vectors().base().size());
      row.put("what", "standard searches over HTTP, " + options.segments() + " segments");
      row.put("devices", each.getKey());
      row.put("placement", "exact");
      row.put("beam", CANDIDATES);
      row.put("batch", 1);
      row.put("callers", CLIENTS);
      row.put("recall_at_10", Samples.round(each.getValue().get(0).recall(), 5));
      row.put("qps", Samples.round(speed(each.getValue()), 1));
      row.put("ratio", Samples.round(speed(each.getValue()) / one, 3));
      context.fragment().add(DevicesStage.SECTION, row);
      context.say("%s", row);
    }
  }

  private static SingleSearches turn(
      Context context, SuiteSet set, NodeParts parts, NodeHome home, int devices)
      throws IOException {
    Map<String, String> settings =
        Map.of(
            "vamana.gpu.devices",
            IntStream.range(0, devices).mapToObj(String::valueOf).collect(Collectors.joining(",")));
    try (RunningNode node = parts.start(home, "exact", settings)) {
      NodeIndex index = new NodeIndex(node, set.vectors(), INDEX, INDEX);
      index.fill(
          set.vectors().base().size(),
          context.options().segments(),
          Map.of("index.vamana.enabled", "true"));
      context.say("%s", node.client().post("/" + INDEX + "/_vamana/warmup", null));
      SingleSearches searches =
          SingleSearches.run(
              node, index, CANDIDATES, CLIENTS, ROUNDS, context.options().seconds() * LONGER);
      context.say(
          "%d devices: %.1f requests/s, CPU microseconds of a request %s",
          devices, searches.requestsPerSecond(), searches.cpuMicros());
      return searches;
    }
  }

  private static double speed(List<SingleSearches> turns) {
    return turns.stream().mapToDouble(SingleSearches::requestsPerSecond).average().orElseThrow();
  }
}
