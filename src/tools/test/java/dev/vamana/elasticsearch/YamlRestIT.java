package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;

import dev.vamana.elasticsearch.yaml.Suite;
import dev.vamana.elasticsearch.yaml.SuiteRunner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.ClassRule;
import org.junit.Test;

/** REST tests of our endpoints in YAML, all against one node. */
public class YamlRestIT {
  static final Path OURS = Path.of("rest-api-spec/src/yamlRestTest/resources/rest-api-spec/test");

  @ClassRule public static final SharedCluster NODES = SharedCluster.ONE_NODE;

  @Test
  public void testAll() throws IOException {
    SuiteRunner runner = new SuiteRunner(NODES.first().client());
    List<String> failures = new ArrayList<>();
    for (Suite suite : Suite.in(OURS)) {
      for (String title : suite.tests().keySet()) {
        try {
          runner.run(suite, title);
        } catch (AssertionError e) {
          failures.add(title + ": " + e.getMessage());
        }
      }
    }
    assertEquals(String.join("\n", failures), 0, failures.size());
  }
}
