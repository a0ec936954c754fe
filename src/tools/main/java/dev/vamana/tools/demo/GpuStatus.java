package dev.vamana.tools.demo;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Report of a node's {@code GET /_vamana/nodes/stats} on its GPU and on who answered searches.
 *
 * @param usable whether the GPU answers searches now
 * @param device the device's name, null without one
 * @param reason why the GPU is not usable, null if it is
 * @param waiting segments on their way to the device
 * @param answered who answered since the node's start
 */
record GpuStatus(boolean usable, String device, String reason, long waiting, Answered answered) {

  private static final String REMEDIES = "docs/operators/troubleshooting.md#the-gpu-is-not-used";
  private static final int LONGEST_REASON = 200;

  /** Asks the node. */
  static GpuStatus of(NodeClient client) throws IOException {
    Map<?, ?> nodes = (Map<?, ?>) client.get("/_vamana/nodes/_local/stats").get("nodes");
    return of(nodes.values().iterator().next());
  }

  /**
   * Reads one node's part of the answer.
   *
   * @param node the object under the node's id
   */
  static GpuStatus of(Object node) {
    Object devices = NodeClient.at(node, "devices");
    Object waiting = NodeClient.at(node, "residency", "segments", "waiting");
    return new GpuStatus(
        Boolean.TRUE.equals(NodeClient.at(node, "state", "usable")),
        devices instanceof List<?> all && all.isEmpty() == false
            ? (String) NodeClient.at(all.get(0), "name")
            : null,
        (String) NodeClient.at(node, "state", "reason"),
        waiting == null ? 0 : ((Number) waiting).longValue(),
        new Answered(
            counters(NodeClient.at(node, "executor", "items", "by_placement")),
            counters(NodeClient.at(node, "executor", "items", "on_cpu"))));
  }

  private static Map<String, Long> counters(Object json) {
    Map<String, Long> counters = new TreeMap<>();
    if (json instanceof Map<?, ?> map) {
      map.forEach((name, value) -> counters.put(name.toString(), ((Number) value).longValue()));
    }
    return counters;
  }

  /** One line: the device, or why there is none and where to read on. */
  String line() {
    return usable
        ? "GPU: " + device + "."
        : "No GPU was used: " + shortReason() + ". If this machine has one, see " + REMEDIES + ".";
  }

  /** The reason's beginning, up to the details that follow a colon or full stop. */
  private String shortReason() {
    if (reason == null) {
      return "the node does not say why";
    }
    String first = reason.split("\n|: |\\. ", 2)[0].strip().replaceFirst("\\.$", "");
    return first.length() <= LONGEST_REASON
        ? first
        : first.substring(0, first.lastIndexOf(' ', LONGEST_REASON)) + " ...";
  }
}
