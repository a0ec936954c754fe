package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.ClassRule;
import org.junit.Test;

/** The commands of README.md, as printed but for the node's address, one after the other. */
public class ReadmeIT {
  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static final String DEMO = "demo-vamana/_search";

  /** Answers of each block of commands, without answers about the demo's own index. */
  private static List<List<Map<String, Object>>> answers() throws IOException {
    Path folder = Files.createDirectories(Path.of("target", "readme"));
    String address =
        CLUSTER.first().httpUri().getHost() + ":" + CLUSTER.first().httpUri().getPort();
    List<List<Map<String, Object>>> answers = new ArrayList<>();
    for (String block : PrintedCommands.blocks(Path.of("README.md"), "")) {
      if (block.startsWith("curl") && block.contains(DEMO) == false) {
        String commands = "set -e\n" + block.replace(PrintedCommands.PRINTED_ADDRESS, address);
        answers.add(objects(PrintedCommands.run(folder, "bash", "-c", commands)));
      }
    }
    return answers;
  }

  /** Pretty-printed objects begin and end at the margin; tables are left out. */
  private static List<Map<String, Object>> objects(String printed) {
    List<Map<String, Object>> objects = new ArrayList<>();
    for (String object : printed.split("(?<=\n}\n)")) {
      if (object.startsWith("{")) {
        objects.add(XContentHelper.convertToMap(JsonXContent.jsonXContent, object, true));
      }
    }
    return objects;
  }

  @Test
  public void testCommands() throws IOException {
    assumeTrue("no bash or no curl", PrintedCommands.canRun());
    List<List<Map<String, Object>>> blocks = answers();
    for (List<Map<String, Object>> block : blocks) {
      block.forEach(answer -> assertFalse(answer.toString(), answer.containsKey("error")));
    }
    assertEquals(blocks.toString(), 4, blocks.size());
    List<Map<String, Object>> use = blocks.get(0);
    assertEquals(true, use.get(0).get("acknowledged"));
    assertEquals(false, use.get(1).get("errors"));
    assertEquals(2, NodeClient.at(use.get(2), "hits", "total", "value"));
    assertEquals("3", NodeClient.at(use.get(2), "hits", "hits", 0, "_id"));
    assertEquals(List.of(List.of("1", "3"), List.of("2", "3")), blocks.get(1).get(0).get("ids"));
    Map<?, ?> nodes = (Map<?, ?>) blocks.get(3).get(0).get("nodes");
    for (Object node : nodes.values()) {
      assertTrue(node.toString(), NodeClient.at(node, "state", "usable") instanceof Boolean);
      assertTrue(node.toString(), NodeClient.at(node, "executor", "items", "on_cpu") != null);
    }
    List<Map<String, Object>> moved = blocks.get(2);
    assertEquals(3, moved.size());
    assertEquals(0, NodeClient.at(moved.get(2), "_shards", "failed"));
    Map<String, Object> settings =
        CLUSTER.first().client().get("/photos/_settings?flat_settings=true");
    assertEquals("true", NodeClient.at(settings, "photos", "settings", "index.vamana.enabled"));
    assertTrue(
        CLUSTER.first().client().send("GET", "/_cat/vamana/photos", null, null).body().length()
            > 0);
  }
}
