package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/**
 * The commands and the program of docs/operators/batched-search.md and the commands of
 * docs/operators/batched-search-reference.md do what the pages say.
 */
public class BatchedSearchPageIT {
  private static final Path PAGE = Path.of("docs/operators/batched-search.md");
  private static final Path REFERENCE = Path.of("docs/operators/batched-search-reference.md");

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static RunningNode node;

  @BeforeClass
  public static void startNode() throws IOException {
    assumeTrue("no bash or no curl", PrintedCommands.canRun());
    node = CLUSTER.first();
  }

  @Test
  public void testThePage() throws IOException {
    Path folder = Files.createDirectories(Path.of("target", "batched-search-page"));
    List<String> commands = new ArrayList<>(PrintedCommands.blocks(PAGE, ""));
    commands.addAll(PrintedCommands.blocks(REFERENCE, ""));
    assertEquals(2, commands.size());
    String printed = shell(folder, commands.get(0));
    String answer = printed.substring(printed.lastIndexOf("\n{") + 1);
    Map<String, Object> documented = json(PrintedCommands.blocks(PAGE, "json").get(0));
    Map<String, Object> answered = json(answer);
    for (String key : List.of("timed_out", "_shards", "ids")) {
      assertEquals(documented.get(key), answered.get(key));
    }
    assertEquals(documented.keySet(), answered.keySet());
    for (int i = 0; i < 2; i++) {
      for (int hit = 0; hit < 2; hit++) {
        assertEquals(
            (double) NodeClient.at(documented, "scores", i, hit),
            (double) NodeClient.at(answered, "scores", i, hit),
            1e-6);
      }
    }

    String java = PrintedCommands.blocks(PAGE, "java").get(0);
    Path program = folder.resolve("BatchSearch.java");
    Files.writeString(program, atNode(java));
    Path launcher = Path.of(System.getProperty("java.home"), "bin", "java");
    assertEquals(
        PrintedCommands.blocks(PAGE, "text").get(0),
        PrintedCommands.run(folder, launcher.toString(), "BatchSearch.java"));

    String setting = shell(folder, commands.get(1));
    assertEquals("90mb", NodeClient.at(json(setting), "persistent", "vamana", "batch", "max_body"));
  }

  @Test
  public void testTheReadmesExample() throws IOException {
    Path folder = Files.createDirectories(Path.of("target", "batched-search-page"));
    List<String> commands =
        PrintedCommands.blocks(Path.of("README.md"), "").stream()
            .filter(command -> command.contains("/photos") && command.contains("reopen") == false)
            .toList();
    String printed = shell(folder, String.join("\n", commands));
    assertFalse(printed, printed.contains("\"error\""));
    assertTrue(
        printed, printed.replaceAll("\\s", "").contains("\"ids\":[[\"1\",\"3\"],[\"2\",\"3\"]]"));
  }

  private static String shell(Path folder, String commands) throws IOException {
    String silent = commands.replace("curl -X", "curl -sS -X");
    return PrintedCommands.run(folder, "bash", "-ec", atNode(silent));
  }

  private static String atNode(String printed) {
    assertTrue(printed, printed.contains(PrintedCommands.PRINTED_ADDRESS));
    return printed.replace(
        PrintedCommands.PRINTED_ADDRESS, node.httpUri().getHost() + ":" + node.httpUri().getPort());
  }

  private static Map<String, Object> json(String text) {
    return XContentHelper.convertToMap(JsonXContent.jsonXContent, text, true);
  }
}
