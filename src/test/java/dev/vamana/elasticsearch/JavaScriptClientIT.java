package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
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
  private static final String SCRIPT = "scenarios.mjs";
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
            ExampleTemplates.FOR_ALL.toAbsolutePath().toString());
    assertEquals(run.printed(), 0, run.status());
    List<String> lines = run.printed().lines().toList();
    Map<String, Object> summary =
        XContentHelper.convertToMap(JsonXContent.jsonXContent, lines.get(lines.size() - 1), true);
    List<String> scenarios =
        SCENARIO
            .matcher(Files.readString(JavaScriptClient.SOURCES.resolve(SCRIPT)))
            .results()
            .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
            .toList();
    assertTrue(scenarios.toString(), scenarios.size() >= 14);
    assertEquals(scenarios, summary.get("passed"));
    String manifest = Files.readString(CLIENT.packages().resolve("package.json"));
    String client = (String) summary.get("client");
    assertTrue(client, manifest.contains("\"@elastic/elasticsearch\": \"" + client + "\""));
  }
}
