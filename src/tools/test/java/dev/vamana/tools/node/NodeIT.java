package dev.vamana.tools.node;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.elasticsearch.Build;
import org.junit.Test;

/**
 * A node without a plugin starts and answers. Restarts, kills and clusters of several nodes are in
 * the tests of the plugin.
 */
public class NodeIT {

  private static final String MAPPING =
      """
      {"settings": {"number_of_shards": 1, "number_of_replicas": 0},
       "mappings": {"properties": {"v": {"type": "dense_vector", "dims": 2, "index": true,
         "similarity": "l2_norm", "index_options": {"type": "hnsw"}}}}}
      """;

  private static final String DOCUMENTS =
      """
      {"index": {"_id": "far"}}
      {"v": [9, 9]}
      {"index": {"_id": "near"}}
      {"v": [1, 1]}
      {"index": {"_id": "middle"}}
      {"v": [4, 4]}
      """;

  private static final String QUERY =
      """
      {"knn": {"field": "v", "query_vector": [0, 0], "k": 2, "num_candidates": 3}}
      """;

  private static Path folder(String name) {
    return Path.of("target/node", name);
  }

  private static void assertNearest(NodeClient client) throws IOException {
    Map<String, Object> answer = client.post("/t/_search", QUERY);
    List<?> hits = (List<?>) NodeClient.at(answer, "hits", "hits");
    assertEquals(2, hits.size());
    assertEquals("near", NodeClient.at(hits, 0, "_id"));
    assertEquals("middle", NodeClient.at(hits, 1, "_id"));
    // l2_norm scores 1 / (1 + squared distance)
    assertEquals(1.0 / 3.0, ((Number) NodeClient.at(hits, 0, "_score")).doubleValue(), 1e-6);
  }

  @Test
  public void testSearch() throws IOException {
    NodeHome home = NodeHome.assemble(folder("alone"), null);
    try (RunningNode node = RunningNode.start(home, TestNodes.options())) {
      node.client().put("/t", MAPPING);
      node.client().bulk("/t/_bulk?refresh=true", DOCUMENTS);
      assertNearest(node.client());
      Map<String, Object> nodes = node.client().get("/_nodes/_local");
      Map<?, ?> only = (Map<?, ?>) ((Map<?, ?>) nodes.get("nodes")).values().iterator().next();
      assertEquals(Build.current().version(), only.get("version"));
      IllegalStateException wrong =
          assertThrows(IllegalStateException.class, () -> node.client().get("/absent/_settings"));
      assertTrue(wrong.getMessage(), wrong.getMessage().contains("answered 404"));
      assertTrue(wrong.getMessage(), wrong.getMessage().contains("started"));
      node.stop();
      assertFalse(node.isAlive());
    }
    home.delete();
  }
}
