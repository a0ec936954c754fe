package dev.vamana.elasticsearch.yaml;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.elasticsearch.xcontent.XContentType;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** Which tests a cluster is for. */
public class PrerequisiteTests {
  private CannedNode node;

  @Before
  public void start() throws IOException {
    node =
        new CannedNode()
            .answer(
                "/_nodes/os,http,plugins",
                200,
                """
                {"nodes": {
                 "a": {"version": "9.5.3", "http": {"publish_address": "h/127.0.0.1:1"},
                  "os": {"pretty_name": "Debian"}, "modules": [{"name": "transport-netty4"}]},
                 "b": {"version": "9.4.0", "http": {"publish_address": "127.0.0.1:2"},
                  "os": {"pretty_name": "Fedora"}}}}
                """)
            .answer(
                "/_cluster/state",
                200,
                """
                {"nodes_features": [{"node_id": "a", "features": ["old", "new"]},
                                    {"node_id": "b", "features": ["old"]}]}
                """)
            .answer("/_capabilities", 200, "{\"supported\": true}");
  }

  @After
  public void stop() {
    node.close();
  }

  private String complaint(String yaml) throws IOException {
    Object step =
        Content.documents(XContentType.YAML, yaml.getBytes(StandardCharsets.UTF_8)).get(0);
    var entry = Content.object(step, "a step").entrySet().iterator().next();
    Prerequisite prerequisite =
        entry.getKey().equals("skip")
            ? Prerequisite.skip(entry.getValue())
            : Prerequisite.requires(entry.getValue());
    return prerequisite.complaint(new ClusterInfo(node.client()));
  }

  private void runs(String yaml) throws IOException {
    assertNull(yaml, complaint(yaml));
  }

  private void isSkipped(String yaml) throws IOException {
    assertNotNull(yaml, complaint(yaml));
  }

  @Test
  public void testClusterFeatures() throws IOException {
    runs("requires: { cluster_features: old, reason: r }");
    isSkipped("requires: { cluster_features: [ old, new ], reason: r }");
    isSkipped("requires: { cluster_features: absent, reason: r }");
    isSkipped("skip: { cluster_features: [ absent, old ], reason: r }");
    runs("skip: { cluster_features: new, reason: r }");
    assertTrue(complaint("skip: { cluster_features: old, reason: why }").contains("why"));
  }

  @Test
  public void testVersionsAsFeatures() throws IOException {
    runs("requires: { cluster_features: gte_v9.4.0, reason: r }");
    runs("requires: { cluster_features: [ gte_v8.15.0, old ], reason: r }");
    isSkipped("requires: { cluster_features: gte_v9.4.1, reason: r }");
    isSkipped("skip: { cluster_features: gte_v8.99.0, reason: r }");
  }

  @Test
  public void testVersions() throws IOException {
    runs("skip: { version: ' - 8.11.99', reason: r }");
    runs("skip: { version: ' - 8.11.99, 9.5.4 - ', reason: r, features: close_to }");
    isSkipped("skip: { version: ' - 9.4.99', reason: r }");
    isSkipped("skip: { version: '8.0.0 - 8.1.0, 9.5.3 - 9.5.3', reason: r }");
    isSkipped("skip: { version: all, reason: r }");
    assertThrows(
        IllegalArgumentException.class, () -> complaint("skip: { version: old, reason: r }"));
    assertThrows(
        IllegalArgumentException.class, () -> complaint("skip: { version: ' - 8.11.99' }"));
  }

  @Test
  public void testKnownIssues() throws IOException {
    isSkipped("skip: { known_issues: [ { cluster_feature: old, fixed_by: new } ], reason: r }");
    runs("skip: { known_issues: [ { cluster_feature: old, fixed_by: old } ], reason: r }");
    runs("skip: { known_issues: [ { cluster_feature: new, fixed_by: absent } ], reason: r }");
    isSkipped("skip: { awaits_fix: 'https://example.org/1' }");
  }

  @Test
  public void testCapabilities() throws IOException {
    String call = "{ method: POST, path: /_search, capabilities: [ x, y ], parameters: [ p ] }";
    runs("requires: { capabilities: [ " + call + " ], reason: r }");
    assertEquals(
        "/_capabilities?method=POST&path=%2F_search&parameters=p&capabilities=x%2Cy",
        node.last().uri());
    isSkipped("skip: { capabilities: [ " + call + " ], reason: r }");
    for (String unsupported : new String[] {"false", "null"}) {
      node.answer("/_capabilities", 200, "{\"supported\": " + unsupported + "}");
      isSkipped("requires: { capabilities: [ " + call + " ], reason: r }");
      runs("skip: { capabilities: [ " + call + " ], reason: r }");
    }
  }

  @Test
  public void testModulesAndSystems() throws IOException {
    runs("requires: { test_runner_features: [ headers, no_xpack, default_shards ] }");
    isSkipped("requires: { test_runner_features: xpack }");
    isSkipped("skip: { features: skip_os, os: [ Fedora ], reason: r }");
    runs("skip: { features: skip_os, os: Windows, reason: r }");
  }
}
