package dev.vamana.tools.gpu.node;

import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The GPU counters of a node's {@code GET /_vamana/nodes/stats}.
 *
 * @param state for instance {@code ready}
 * @param reason why it is not ready, or null
 * @param gpu counters of items: {@code items_by_placement} and {@code items_on_cpu}; of launches:
 *     {@code launches}; items by plan: {@code plans}; and items sent ahead: {@code ahead}
 */
record GpuCounters(String state, String reason, Map<?, ?> gpu) {

  /** Reads the counters of a single node. */
  static GpuCounters of(RunningNode node) throws IOException {
    Map<?, ?> nodes = (Map<?, ?>) node.client().get("/_vamana/nodes/_local/stats").get("nodes");
    Object shown = nodes.values().iterator().next();
    return new GpuCounters(
        (String) NodeClient.at(shown, "state", "state"),
        (String) NodeClient.at(shown, "state", "reason"),
        Map.of(
            "items_by_placement",
            some(NodeClient.at(shown, "executor", "items", "by_placement")),
            "items_on_cpu",
            some(NodeClient.at(shown, "executor", "items", "on_cpu")),
            "launches",
            some(NodeClient.at(shown, "executor", "launches"), "count", "wait_in_millis"),
            "plans",
            some(NodeClient.at(shown, "executor", "items", "by_plan")),
            "ahead",
            some(NodeClient.at(shown, "executor", "items", "ahead"))));
  }

  /** Counters of some names, or all; absent ones, for instance without a device, are left out. */
  private static Map<String, Object> some(Object counters, String... names) {
    Map<String, Object> some = new TreeMap<>();
    if (counters instanceof Map<?, ?> all) {
      all.forEach((name, value) -> some.put((String) name, value));
      if (names.length > 0) {
        some.keySet().retainAll(List.of(names));
      }
    }
    return some;
  }

  /** Returns the growth of all groups' counters since an earlier state. */
  Map<String, Map<String, Long>> since(GpuCounters before) {
    Map<String, Map<String, Long>> grown = new TreeMap<>();
    gpu.keySet().forEach(group -> grown.put(group.toString(), since(before, group.toString())));
    return grown;
  }

  /**
   * Returns the growth of a group's counters since an earlier state, without counters that did not
   * grow.
   */
  Map<String, Long> since(GpuCounters before, String group) {
    Map<String, Long> grown = new TreeMap<>();
    if (gpu.get(group) instanceof Map<?, ?> now) {
      now.forEach(
          (name, value) -> {
            Object old = NodeClient.at(before.gpu, group, name);
            long difference =
                ((Number) value).longValue() - (old == null ? 0 : ((Number) old).longValue());
            if (difference != 0) {
              grown.put(name.toString(), difference);
            }
          });
    }
    return grown;
  }

  /** Returns the sums of two groups of counters. */
  static Map<String, Map<String, Long>> sum(
      Map<String, Map<String, Long>> a, Map<String, Map<String, Long>> b) {
    Map<String, Map<String, Long>> sum = new TreeMap<>();
    a.forEach((group, counts) -> sum.put(group, new TreeMap<>(counts)));
    b.forEach(
        (group, counts) ->
            counts.forEach(
                (name, count) ->
                    sum.computeIfAbsent(group, unseen -> new TreeMap<>())
                        .merge(name, count, Long::sum)));
    return sum;
  }

  /** Returns the sum of a group's counters. */
  static long sum(Map<String, Long> counters) {
    return counters.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Sends requests until the GPU answers them, so that a segment's upload is not measured.
   *
   * @param requests requests to one index
   * @return whether the GPU answered within a minute
   */
  static boolean awaitGpu(RunningNode node, List<byte[]> requests, RestClients clients)
      throws IOException {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (System.nanoTime() < deadline) {
      GpuCounters before = of(node);
      clients.askAll(requests);
      if (sum(of(node).since(before, "items_by_placement")) >= requests.size()) {
        return true;
      }
    }
    return false;
  }
}
