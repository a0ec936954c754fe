package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.elasticsearch.monitor.stats.MetricsText;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/**
 * Our endpoints in a cluster of two nodes of different releases of Elasticsearch, each with half of
 * an index's shards.
 */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class TwoNodesIT {
  private static final int DIMS = 12;
  private static final int COUNT = 800;
  private static final int SHARDS = 4;
  private static final int QUERIES = 30;
  private static final int K = 10;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 101);

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.TWO_RELEASES;

  private static RunningNode first;
  private static RunningNode second;

  @BeforeClass
  public static void startNodes() throws IOException {
    first = CLUSTER.first();
    second = CLUSTER.second();
    TestIndex index =
        TestIndex.create(
            first.client(),
            "t",
            TestIndex.VAMANA
                + ", \"index.number_of_shards\": 4"
                + ", \"index.routing.allocation.total_shards_per_node\": 2"
                + ", \"index.unassigned.node_left.delayed_timeout\": \"1h\"",
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.awaitHealth("green");
    index.index(0, COUNT, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
  }

  private static String body(String more) {
    return VECTORS.batchedSearch(QUERIES, K, COUNT, more);
  }

  @Test
  public void test1StatisticsOfBoth() throws IOException {
    for (RunningNode asked : List.of(first, second)) {
      Map<?, ?> nodes = (Map<?, ?>) asked.client().get("/_vamana/nodes/stats").get("nodes");
      Map<Object, Object> states = new HashMap<>();
      nodes
          .values()
          .forEach(
              node ->
                  states.put(NodeClient.at(node, "name"), NodeClient.at(node, "state", "state")));
      assertEquals(Map.of("older", "unavailable", "newer", "off"), states);
      MetricsText metrics = Scrape.assertSameAsJson(asked.client(), "/_vamana/nodes/stats");
      for (String name : List.of("older", "newer")) {
        assertEquals(1, metrics.values("vamana_state_usable", Map.of("node_name", name)).size());
      }
      for (String path :
          List.of("/_vamana/nodes/_local/stats", "/_vamana/nodes/newer/stats?timeout=10s")) {
        assertEquals(1, NodeClient.at(asked.client().get(path), "_nodes", "successful"));
      }
      NodeClient.Response none =
          asked.client().send("GET", "/_vamana/nodes/absent/stats", null, "application/json");
      assertEquals(none.body(), 404, none.status());
    }
  }

  /** Vectors and hits travel between the nodes, as floats and as bytes. */
  @Test
  public void test2NeighborsInTheShardsOfBoth() throws IOException {
    int count = 200;
    TestVectors bytes = TestVectors.randomBytes(count, DIMS, 103);
    TestIndex ofBytes =
        TestIndex.create(
            first.client(),
            "of-bytes",
            TestIndex.VAMANA
                + ", \"index.number_of_shards\": 2"
                + ", \"index.routing.allocation.total_shards_per_node\": 1",
            TestIndex.denseVector("v", "byte", DIMS, "l2_norm", "hnsw"));
    ofBytes.awaitHealth("green");
    ofBytes.index(0, count, doc -> "{\"v\": " + bytes.json(doc) + "}");
    assertNeighbors(second, "t", VECTORS);
    assertNeighbors(first, "of-bytes", bytes);
    first.client().delete("/of-bytes");
  }

  private static void assertNeighbors(RunningNode asked, String index, TestVectors vectors)
      throws IOException {
    String dest = index + "-neighbors";
    Map<String, Object> answer =
        asked
            .client()
            .post(
                "/" + index + "/_vamana/neighbors?refresh=true",
                Json.of(
                    """
                    {"field": "v", "k": %d, "num_candidates": %d, "batch_size": 90,
                     "dest": {"index": "%s"}}
                    """,
                    K, vectors.count(), dest));
    assertEquals(answer.toString(), vectors.count(), answer.get("created"));
    Map<String, Object> written = asked.client().post("/" + dest + "/_search", "{\"size\": 1000}");
    assertEquals(vectors.count(), Answers.hits(written).size());
    for (Object hit : Answers.hits(written)) {
      int doc = Answers.doc(hit);
      List<Double> best =
          List.copyOf(
              TestVectors.best(
                      vectors.scores(
                          vectors.vector(doc), Similarity.L2_NORM, other -> other != doc),
                      K)
                  .values());
      List<?> scores = (List<?>) NodeClient.at(hit, "_source", "neighbors", "scores");
      assertEquals(K, scores.size());
      for (int i = 0; i < K; i++) {
        double score = ((Number) scores.get(i)).doubleValue();
        assertEquals("document " + doc, best.get(i), score, best.get(i) * 1e-5);
      }
    }
    asked.client().delete("/" + dest);
  }

  @Test
  public void test2BatchesReachTheShardsOfBoth() throws IOException {
    for (RunningNode asked : List.of(first, second)) {
      Map<String, Object> hits =
          asked.client().post("/t/_vamana/search", body("\"_source\": false"));
      Map<String, Object> columns =
          asked.client().post("/t/_vamana/search", body("\"format\": \"columns\""));
      assertEquals(SHARDS, NodeClient.at(hits, "_shards", "successful"));
      assertEquals(SHARDS, NodeClient.at(columns, "_shards", "successful"));
      for (int i = 0; i < QUERIES; i++) {
        Map<Integer, Double> scores =
            VECTORS.scores(VECTORS.vector(i), Similarity.L2_NORM, doc -> true);
        Map<String, Object> asSearch = new HashMap<>(hits);
        asSearch.put("hits", NodeClient.at(hits, "responses", i, "hits"));
        Answers.assertBest(scores, K, asSearch);
        List<Object> ids =
            Answers.hits(asSearch).stream().<Object>map(hit -> NodeClient.at(hit, "_id")).toList();
        assertEquals(ids, NodeClient.at(columns, "ids", i));
      }
    }
  }

  @Test
  public void test3WarmUpAsksBoth() throws IOException {
    for (RunningNode asked : List.of(first, second)) {
      Map<String, Object> warm = asked.client().post("/t/_vamana/warmup", null);
      assertEquals(warm.toString(), SHARDS, NodeClient.at(warm, "_shards", "successful"));
      assertEquals(2, nodesOfShards(warm).size());
      Map<String, Object> cleared = asked.client().post("/t/_vamana/clear_cache", null);
      assertEquals(cleared.toString(), SHARDS, NodeClient.at(cleared, "_shards", "successful"));
      assertEquals(2, nodesOfShards(cleared).size());
    }
  }

  private static Set<Object> nodesOfShards(Map<String, Object> answer) {
    Set<Object> nodes = new HashSet<>();
    Map<?, ?> shards = (Map<?, ?>) NodeClient.at(answer, "indices", "t", "shards");
    assertEquals(answer.toString(), SHARDS, shards.size());
    shards
        .values()
        .forEach(copies -> ((List<?>) copies).forEach(c -> nodes.add(NodeClient.at(c, "node"))));
    return nodes;
  }

  @Test
  public void test4SegmentsOfBothAreListed() throws IOException {
    for (RunningNode asked : List.of(first, second)) {
      String rows = asked.client().send("GET", "/_cat/vamana/t?h=shard", null, "text/plain").body();
      Set<String> shards = rows.lines().map(String::strip).collect(Collectors.toSet());
      assertEquals(Set.of("0", "1", "2", "3"), shards);
    }
  }

  /** A breaker on any node may refuse: the answer is 429, and no memory or reader is left. */
  @Test
  public void test4WhatTheBreakersRefuse() throws Exception {
    for (String form : List.of("\"format\": \"columns\"", "\"_source\": false")) {
      int refused = 0;
      int status = 0;
      for (long limit = 4_000; status != 200; limit += limit / 2) {
        limitRequests("\"" + limit + "b\"");
        try {
          NodeClient.Response answer =
              first.client().send("POST", "/t/_vamana/search", body(form), "application/json");
          status = answer.status();
          assertTrue(answer.body(), status == 429 || status == 200);
          refused += status == 429 ? 1 : 0;
        } finally {
          limitRequests("null");
        }
        awaitNothingHeld();
      }
      assertTrue(form + " refused " + refused, refused > 3);
    }
  }

  private static void limitRequests(String limit) throws IOException {
    first.client().set("indices.breaker.request.limit", limit);
  }

  /** Waits, since messages close readers after the answer. */
  private static void awaitNothingHeld() throws Exception {
    String held = "";
    for (int attempt = 0; attempt < 200; attempt++) {
      Map<?, ?> nodes =
          (Map<?, ?>) first.client().get("/_nodes/stats/breaker,indices/search").get("nodes");
      held =
          nodes.values().stream()
              .map(
                  node ->
                      NodeClient.at(node, "breakers", "request", "estimated_size_in_bytes")
                          + " bytes, readers: "
                          + NodeClient.at(node, "indices", "search", "open_contexts"))
              .distinct()
              .collect(Collectors.joining(", "));
      if (held.equals("0 bytes, readers: 0")) {
        Map<String, Object> tasks = first.client().get("/_tasks?actions=*vamana/search*");
        assertTrue(tasks.toString(), ((Map<?, ?>) tasks.get("nodes")).isEmpty());
        return;
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    throw new AssertionError("still held: " + held);
  }

  @Test
  public void test5ANodeThatIsLostFailsItsShardsOnly() throws IOException {
    second.kill();
    first.client().get("/_cluster/health?wait_for_nodes=1&timeout=60s");
    Map<String, Object> part =
        first.client().post("/t/_vamana/search", body("\"format\": \"columns\""));
    assertEquals(part.toString(), SHARDS, NodeClient.at(part, "_shards", "total"));
    assertEquals(SHARDS / 2, NodeClient.at(part, "_shards", "successful"));
    assertEquals(SHARDS / 2, NodeClient.at(part, "_shards", "failed"));
    assertEquals(QUERIES, ((List<?>) part.get("ids")).size());
    NodeClient.Response whole =
        first
            .client()
            .send(
                "POST",
                "/t/_vamana/search?allow_partial_search_results=false",
                body("\"format\": \"columns\""),
                "application/json");
    assertEquals(whole.body(), 503, whole.status());
    Map<?, ?> nodes = (Map<?, ?>) first.client().get("/_vamana/nodes/stats").get("nodes");
    assertEquals(1, nodes.size());
    Map<String, Object> warm = first.client().post("/t/_vamana/warmup", null);
    assertTrue(warm.toString(), (Integer) NodeClient.at(warm, "_shards", "successful") == 2);
  }
}
