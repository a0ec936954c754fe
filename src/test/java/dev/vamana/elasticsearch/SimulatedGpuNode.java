package dev.vamana.elasticsearch;

import static org.junit.Assume.assumeTrue;

import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Nodes whose GPU is simulated; see {@link SimulatedGpuPlugin}. */
final class SimulatedGpuNode {

  private static final long AWAIT_NANOS = 60_000_000_000L;

  private SimulatedGpuNode() {}

  /** A new home; the test is skipped if there is no library of kernels. */
  static NodeHome home(String name) throws IOException {
    return NodeHome.assemble(Path.of("target", "node", name), zip(name));
  }

  /** The plugin's zip; the test is skipped if there is no library of kernels. */
  static Path zip(String name) throws IOException {
    Path library = Path.of("target", "native", SimulatedGpuPlugin.LIBRARY);
    assumeTrue("no library of kernels for the host", Files.exists(library));
    return TestPluginZip.write(
        name,
        SimulatedGpuPlugin.class,
        List.of(
            "dev/vamana/elasticsearch/(ForwardingPlugin|SimulatedGpuPlugin|CopyGate).*",
            "dev/vamana/cuda/driver/(Simulated|RegisteredPages).*",
            "dev/vamana/cuda/kernel/(HostLibrary|SimtKernels).*"),
        Map.of(SimulatedGpuPlugin.LIBRARY, library));
  }

  /** Lets copies to the device wait, or go on. */
  static void setCopies(RunningNode node, boolean held) throws IOException {
    node.client().post("/_simulated/copies/" + (held ? "shut" : "open"), null);
  }

  /** Options of a node that has to have its GPU. */
  static NodeOptions options() {
    return PluginNode.options()
        .withSetting("vamana.gpu.enabled", "required")
        .withSetting("vamana.gpu.plan", "graph");
  }

  /** The statistics of the node that is asked. */
  static Map<?, ?> stats(RunningNode node) throws IOException {
    Map<?, ?> nodes = (Map<?, ?>) node.client().get("/_vamana/nodes/_local/stats").get("nodes");
    return (Map<?, ?>) nodes.values().iterator().next();
  }

  /** A number in the statistics of the node that is asked; 0 if there is none. */
  static long counter(RunningNode node, String... path) throws IOException {
    Object value = stats(node);
    for (String name : path) {
      value = value == null ? null : ((Map<?, ?>) value).get(name);
    }
    return value == null ? 0 : ((Number) value).longValue();
  }

  /** Items that the GPU of the node that is asked has answered. */
  static long onDevice(RunningNode node) throws IOException {
    return ((Map<?, ?>) NodeClient.at(stats(node), "executor", "items", "by_placement"))
        .values().stream().mapToLong(value -> ((Number) value).longValue()).sum();
  }

  /** Device memory of segments when it has come to zero, or after a minute. */
  static long awaitNoSegments(RunningNode node) throws IOException {
    long deadline = System.nanoTime() + AWAIT_NANOS;
    long value;
    do {
      // lanes keep their scratch
      value =
          counter(node, "memory", "device", "used_in_bytes")
              - counter(node, "memory", "scratch", "used_in_bytes");
    } while (value != 0 && System.nanoTime() < deadline);
    return value;
  }
}
