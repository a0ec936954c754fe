package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** {@code node_selector}: which node a call is sent to. */
final class NodeSelector {
  /** Whichever node the client knows. */
  static final NodeSelector ANY = new NodeSelector(List.of());

  private final List<Predicate<ClusterInfo.Node>> conditions;

  private NodeSelector(List<Predicate<ClusterInfo.Node>> conditions) {
    this.conditions = conditions;
  }

  static NodeSelector parse(Object argument) {
    List<Predicate<ClusterInfo.Node>> conditions = new ArrayList<>();
    Content.object(argument, "[node_selector]")
        .forEach(
            (kind, value) -> {
              switch (kind) {
                case "version" -> {
                  String range = Content.text(value, "[version]");
                  ClusterVersion.check(range);
                  conditions.add(node -> ClusterVersion.isIn(node.version(), range));
                }
                case "attribute" ->
                    Content.object(value, "[attribute]")
                        .forEach((name, wanted) -> conditions.add(attribute(name, wanted)));
                default -> throw new IllegalArgumentException("unknown selector [" + kind + "]");
              }
            });
    if (conditions.isEmpty()) {
      throw new IllegalArgumentException("[node_selector] is empty");
    }
    return new NodeSelector(conditions);
  }

  private static Predicate<ClusterInfo.Node> attribute(String name, Object wanted) {
    String text = String.valueOf(wanted);
    return node -> text.equals(node.attributes().get(name));
  }

  /** Address of a node that fits, or null for the client's own. */
  String address(ClusterInfo cluster) throws IOException {
    if (conditions.isEmpty()) {
      return null;
    }
    for (ClusterInfo.Node node : cluster.nodes()) {
      if (conditions.stream().allMatch(condition -> condition.test(node))) {
        return node.httpAddress();
      }
    }
    throw new IllegalArgumentException("no node fits the [node_selector]");
  }
}
