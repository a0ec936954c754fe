package dev.vamana.tools.gpu;

import dev.vamana.tools.gpu.node.DriverTrial;
import dev.vamana.tools.gpu.node.NodeIndex;
import dev.vamana.tools.gpu.node.NodeParts;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Times the forced merge to one segment of an index of a node: ours with the GPU, and the stock
 * index, one after the other in the same node. Both have the same documents and settings, and no
 * merge of their own is under way. The node slows merges down that write more than 20 MB a second
 * at first; the indices switch that off. Needs the suite's part {@code node}.
 */
final class NodeMergeStage implements Stage {

  private static final String BUILDS = "builds";

  private final String setName;

  NodeMergeStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException {
    SuiteOptions options = context.options();
    SuiteSet set = SuiteSet.load(options, setName);
    NodeParts parts = NodeStage.parts(options, set);
    NodeHome home = parts.assemble();
    String mode = options.device() < 0 ? NodeParts.OFF : "auto";
    List<String> methods =
        options.methods().isEmpty()
            ? List.of(DriverTrial.GPU, DriverTrial.STOCK)
            : options.methods();
    try (RunningNode node = parts.start(home, mode)) {
      for (String method : methods) {
        boolean ours = method.equals(DriverTrial.STOCK) == false;
        NodeIndex index =
            new NodeIndex(node, set.vectors(), ours ? "merged-vamana" : "merged-stock", method);
        int count = set.vectors().base().size();
        NodeIndex.Merge merge =
            index.merge(
                count,
                Map.of(
                    "index.vamana.enabled",
                    String.valueOf(ours),
                    "index.merge.scheduler.auto_throttle",
                    "false"));
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("set", set.vectors().name());
        row.put("method", method);
        row.put("what", "forced merge of " + merge.segments() + " segments");
        row.put("n", count);
        row.put("threads", context.workers().threads());
        row.put("seconds", Samples.round(merge.seconds(), 3));
        context.fragment().add(BUILDS, row);
        context.say("  %s", row);
        if (ours) {
          context.say(
              "builds: %s", node.client().get("/_vamana/nodes/_local/stats/build").get("nodes"));
        }
      }
    }
  }
}
