package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.RuleChain;

/**
 * Elasticsearch's own JavaScript client against a node with the plugin. The scenarios and their
 * assertions are in {@code src/test/javascript/scenarios.mjs}.
 */
public class JavaScriptClientIT {
  private static final Path SCRIPT = JavaScriptClient.SOURCES.resolve("scenarios.mjs");
  private static final Path PAGE = Path.of("docs/operators/clients.md");
  private static final Pattern SCENARIO =
      Pattern.compile("^  async (?:'([^']+)'|(\\w+)) \\(\\) \\{$", Pattern.MULTILINE);

  private static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;
  private static final JavaScriptClient CLIENT = new JavaScriptClient();

  /** The client first: another class may use the cluster while npm works. */
  @ClassRule public static final RuleChain RULES = RuleChain.outerRule(CLIENT).around(CLUSTER);

  @Test
  public void testScenarios() throws IOException {
    JavaScriptClient.Result run =
        CLIENT.run(
            SCRIPT,
            CLUSTER.first().httpUri().toString(),
            ExampleTemplates.FOR_ALL.toAbsolutePath().toString(),
            CLIENT.packages().toString());
    assertEquals(run.printed(), 0, run.status());
    List<String> lines = run.printed().lines().toList();
    Map<String, Object> summary =
        XContentHelper.convertToMap(JsonXContent.jsonXContent, lines.get(lines.size() - 1), true);
    List<String> scenarios =
        SCENARIO
            .matcher(Files.readString(SCRIPT))
            .results()
            .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
            .toList();
    assertTrue(scenarios.toString(), scenarios.size() >= 14);
    assertEquals(scenarios, summary.get("passed"));
    String manifest = Files.readString(CLIENT.packages().resolve("package.json"));
    String client = (String) summary.get("client");
    assertTrue(client, manifest.contains("\"@elastic/elasticsearch\": \"" + client + "\""));
  }

  /** The program that the page prints, but for the node's address. */
  @Test
  public void testProgramOfThePage() throws IOException {
    List<String> programs = PrintedCommands.blocks(PAGE, "javascript");
    assertEquals(1, programs.size());
    URI node = CLUSTER.first().httpUri();
    Path program = CLIENT.packages().resolve("page.mjs");
    Files.writeString(
        program,
        programs
            .get(0)
            .replace(PrintedCommands.PRINTED_ADDRESS, node.getHost() + ":" + node.getPort()));
    JavaScriptClient.Result run = CLIENT.run(program);
    assertEquals(run.printed(), 0, run.status());
    assertEquals(
        List.of("3 0.9901 2024", "2 0.5025 2023", "[[\"1\",\"3\"],[\"2\",\"3\"]]"),
        run.printed().lines().toList());
  }
}
