package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assume.assumeTrue;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.ClassRule;
import org.junit.Test;

/** Commands and programs do as README.md and the pages say, as printed but for the address. */
public class PrintedProgramsIT {
  private static final Path PAGE = Path.of("docs/operators/batched-search.md");
  private static final String NEAREST = "\"ids\":[[\"1\",\"3\"],[\"2\",\"3\"]]";

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static String shell(String commands) throws IOException {
    assumeTrue("no bash or no curl", PrintedCommands.canRun());
    return PrintedCommands.run(folder(), "bash", "-ec", atNode(commands));
  }

  private static String java(Path page) throws IOException {
    List<String> programs = PrintedCommands.blocks(page, "java");
    assertEquals(1, programs.size());
    Path program = folder().resolve("Program.java");
    Files.writeString(program, atNode(programs.get(0)));
    return PrintedCommands.run(
        folder(),
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
        program.getFileName().toString());
  }

  private static Path folder() throws IOException {
    return Files.createDirectories(Path.of("target", "printed-programs"));
  }

  private static String atNode(String printed) {
    URI node = CLUSTER.first().httpUri();
    return printed.replace(PrintedCommands.PRINTED_ADDRESS, node.getHost() + ":" + node.getPort());
  }

  private static Map<String, Object> json(String text) {
    return XContentHelper.convertToMap(JsonXContent.jsonXContent, text, true);
  }

  /** All commands but those about the demo's own index. */
  @Test
  public void testReadme() throws IOException {
    List<String> blocks =
        PrintedCommands.blocks(Path.of("README.md"), "").stream()
            .filter(block -> block.startsWith("curl") && !block.contains("demo-vamana/_search"))
            .toList();
    assertEquals(5, blocks.size());
    String printed = shell(String.join("\n", blocks));
    assertFalse(printed, printed.contains("\"error\""));
    String dense = printed.replaceAll("\\s", "");
    for (String part : List.of("\"acknowledged\":true", "\"_id\":\"3\"", NEAREST, "\"on_cpu\"")) {
      assertEquals(printed, true, dense.contains(part));
    }
    assertEquals(
        "{\"photos\":{\"settings\":{\"index\":{\"vamana\":{\"enabled\":\"true\"}}}}}",
        CLUSTER
            .first()
            .client()
            .send("GET", "/photos/_settings/index.vamana.enabled", null, null)
            .body());
  }

  @Test
  public void testBatchedSearch() throws IOException {
    List<String> commands = PrintedCommands.blocks(PAGE, "");
    assertEquals(1, commands.size());
    String printed = shell(commands.get(0).replace("curl -X", "curl -sS -X"));
    Map<String, Object> answered = json(printed.substring(printed.lastIndexOf("\n{") + 1));
    Map<String, Object> shown = json(PrintedCommands.blocks(PAGE, "json").get(0));
    assertEquals(shown.keySet(), answered.keySet());
    for (String key : List.of("timed_out", "_shards", "ids")) {
      assertEquals(shown.get(key), answered.get(key));
    }
    for (int i = 0; i < 2; i++) {
      double score = (double) NodeClient.at(shown, "scores", i, 0);
      assertEquals(score, (double) NodeClient.at(answered, "scores", i, 0), 1e-6);
    }
    assertEquals(PrintedCommands.blocks(PAGE, "text").get(0), java(PAGE));
  }

  @Test
  public void testJavaClient() throws IOException {
    assertEquals(
        List.of("3 0.9901 2024", "2 0.5025 2023", "{" + NEAREST + "}"),
        java(Path.of("docs/operators/clients.md")).lines().toList());
  }
}
