package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.After;
import org.junit.Test;

/**
 * Batched searches of several shards, with a replica each, on two nodes of which one forgets its
 * readers: they expire after a millisecond, as a rule before documents are fetched from them.
 */
public class LostReadersIT {
  private static final int DIMS = 12;
  private static final int COUNT = 600;
  private static final int SHARDS = 3;
  private static final int QUERIES = 30;
  private static final int SEARCHES = 20;
  private static final int K = 10;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 181);

  private final NodeHome[] homes = new NodeHome[2];
  private final RunningNode[] nodes = new RunningNode[2];

  @After
  public void stopNodes() throws IOException {
    for (int i = 0; i < nodes.length; i++) {
      if (nodes[i] != null) {
        nodes[i].kill();
      }
      if (homes[i] != null) {
        homes[i].delete();
      }
    }
  }

  private void start(int node, NodeOptions options) throws IOException {
    homes[node] = PluginNode.home("lost-readers-" + node);
    nodes[node] =
        RunningNode.start(
            homes[node],
            options
                .withSetting("node.name", "node-" + node)
                .withSetting("vamana.gpu.enabled", "off"));
  }

  private static String body(String more) {
    return VECTORS.batchedSearch(QUERIES, K, COUNT, more);
  }

  @Test
  public void testTheOtherNodeAnswers() throws IOException {
    start(0, PluginNode.options().withSetting("cluster.initial_master_nodes", "node-0"));
    start(
        1,
        PluginNode.options()
            .withSetting("discovery.seed_hosts", nodes[0].transportAddress())
            .withSetting("search.default_keep_alive", "1ms")
            .withSetting("search.keep_alive_interval", "1ms"));
    TestIndex index =
        TestIndex.create(
            nodes[0].client(),
            "t",
            TestIndex.VAMANA
                + ", \"index.number_of_shards\": "
                + SHARDS
                + ", \"index.number_of_replicas\": 1",
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.awaitHealth("green");
    index.index(0, COUNT, doc -> "{\"v\": " + VECTORS.json(doc) + "}");

    Map<?, ?> local = (Map<?, ?>) nodes[1].client().get("/_nodes/_local").get("nodes");
    String id = (String) local.keySet().iterator().next();
    for (RunningNode asked : nodes) {
      for (int search = 0; search < SEARCHES; search++) {
        Map<String, Object> hits =
            searched(asked, id, search % 2 == 0 ? "\"_source\": false" : "\"fields\": [\"v\"]");
        Map<String, Object> columns = searched(asked, id, "\"format\": \"columns\"");
        for (int i = 0; i < QUERIES; i++) {
          Map<String, Object> asSearch = new HashMap<>(hits);
          asSearch.put("hits", NodeClient.at(hits, "responses", i, "hits"));
          Answers.assertBest(
              VECTORS.scores(VECTORS.vector(i), Similarity.L2_NORM, doc -> true), K, asSearch);
          List<Object> ids =
              Answers.hits(asSearch).stream()
                  .<Object>map(hit -> NodeClient.at(hit, "_id"))
                  .toList();
          assertEquals(ids, NodeClient.at(columns, "ids", i));
        }
      }
    }
    Map<String, Object> stats = nodes[1].client().get("/_nodes/_local/stats/indices/search");
    Object own = ((Map<?, ?>) stats.get("nodes")).get(id);
    Number queries = (Number) NodeClient.at(own, "indices", "search", "query_total");
    assertTrue("the node was not asked", queries.longValue() > 0);
  }

  private static Map<String, Object> searched(RunningNode asked, String preferred, String more)
      throws IOException {
    Map<String, Object> answer =
        asked
            .client()
            .post(
                "/t/_vamana/search?allow_partial_search_results=false&preference=_prefer_nodes:"
                    + preferred,
                body(more));
    assertEquals(answer.toString(), SHARDS, NodeClient.at(answer, "_shards", "successful"));
    return answer;
  }
}
