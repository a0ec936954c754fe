package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeFalse;

import dev.vamana.elasticsearch.index.NodeBuilding;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** Each value of {@code vamana.gpu.enabled} on a node without a GPU, entitlements on. */
public class NodeSettingsIT {
  private static final String SEARCHED_ON_THE_CPU = "vectors are searched on the CPU";

  /** The first node has the default, auto; the second has off. */
  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.TWO_NODES;

  private static NodeHome home;

  @BeforeClass
  public static void assembleHome() throws IOException {
    assumeFalse("this machine has a GPU", Files.exists(Path.of("/dev/nvidiactl")));
    home = PluginNode.home("gpu");
  }

  @AfterClass
  public static void deleteHome() throws IOException {
    if (home != null) {
      home.delete();
    }
  }

  private static NodeOptions options(String mode) {
    return PluginNode.options().withSetting("vamana.gpu.enabled", mode);
  }

  /** Statistics of a node, as the cluster answers them. */
  private static Map<?, ?> stats(String name) throws IOException {
    Map<String, Object> stats = CLUSTER.first().client().get("/_vamana/nodes/stats");
    assertEquals(2, NodeClient.at(stats, "_nodes", "successful"));
    assertEquals(0, NodeClient.at(stats, "_nodes", "failed"));
    return ((Map<?, ?>) stats.get("nodes"))
        .values().stream()
            .map(node -> (Map<?, ?>) node)
            .filter(node -> name.equals(node.get("name")))
            .findFirst()
            .orElseThrow();
  }

  private static int occurrences(String text, String part) {
    return text.split(Pattern.quote(part), -1).length - 1;
  }

  @Test
  public void testAutoStartsAndSaysOnceWhyThereIsNone() throws IOException {
    RunningNode node = CLUSTER.first();
    Map<?, ?> shown = stats("first");
    assertEquals(node.transportAddress(), shown.get("transport_address"));
    Map<?, ?> gpu = (Map<?, ?>) shown.get("state");
    assertEquals("auto", gpu.get("enabled"));
    assertEquals("unavailable", gpu.get("state"));
    assertEquals(List.of(), shown.get("devices"));
    List<?> troubles = (List<?>) NodeClient.at(shown, "health");
    assertEquals(
        troubles.toString(),
        1,
        troubles.stream()
            .filter(trouble -> "gpu_unavailable".equals(NodeClient.at(trouble, "kind")))
            .count());
    // a machine without a GPU is well
    Object report =
        NodeClient.at(node.client().get("/_health_report/vamana"), "indicators", "vamana");
    assertEquals(report.toString(), "green", NodeClient.at(report, "status"));
    String reason = (String) gpu.get("reason");
    assertNotNull(reason);
    assertFalse(reason, reason.contains("NotEntitled"));
    assertEquals(1, occurrences(node.log(), SEARCHED_ON_THE_CPU));
    assertTrue(node.log(), node.log().contains(reason));
    assertNothingWasDenied(node);
    NodeClient.Response wrong =
        node.client().send("GET", "/_vamana/nodes/stats?no_such=1", null, "application/json");
    assertEquals(wrong.body(), 400, wrong.status());
    assertTrue(wrong.body(), wrong.body().contains("no_such"));
    assertBuildsTakeHalfOfTheProcessors(node);
  }

  private static void assertBuildsTakeHalfOfTheProcessors(RunningNode node) throws IOException {
    Map<String, Object> info = node.client().get("/_nodes/_local/os,thread_pool");
    Object only = ((Map<?, ?>) info.get("nodes")).values().iterator().next();
    int processors = (Integer) NodeClient.at(only, "os", "allocated_processors");
    assertEquals(
        (processors + 1) / 2, NodeClient.at(only, "thread_pool", NodeBuilding.POOL, "max"));
  }

  /** The policy has to name all that looking for a device takes. */
  private static void assertNothingWasDenied(RunningNode node) {
    List<String> denied =
        node.log()
            .lines()
            .filter(line -> line.toLowerCase(Locale.ROOT).contains("entitled"))
            .toList();
    assertEquals(List.of(), denied);
  }

  @Test
  public void testRequiredEndsTheStart() {
    IllegalStateException failure =
        assertThrows(
            IllegalStateException.class, () -> RunningNode.start(home, options("required")));
    String message = failure.getMessage();
    assertTrue(message, message.contains("the node ended with status"));
    assertTrue(message, message.contains("setting [vamana.gpu.enabled] is [required]"));
    assertTrue(message, message.contains("this node has no usable GPU"));
  }

  @Test
  public void testABadValueEndsTheStart() {
    IllegalStateException failure =
        assertThrows(IllegalStateException.class, () -> RunningNode.start(home, options("yes")));
    String message = failure.getMessage();
    assertTrue(message, message.contains("[vamana.gpu.enabled]"));
    assertTrue(message, message.contains("[yes]"));
    assertTrue(message, message.contains("auto, required, off"));
  }
}
