package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.After;
import org.junit.Test;

/**
 * Indices in the server's own formats whose segments the device searches, in a real node with a
 * simulated device, and the same indices after the plugin has gone.
 */
public class AcceleratedIT {
  // enough for byte copies of the vectors on the device, and for every quantized type
  private static final int DIMS = 64;
  // smaller segments of quantized types have no graph
  private static final int COUNT = 3_000;
  private static final int DELETED = 20;
  private static final int QUERIES = 3;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 171);
  private static final TestVectors ASKED = TestVectors.random(QUERIES, DIMS, 172);
  private static final List<String> TYPES = List.of("hnsw", "bbq_hnsw");
  private static final double TOLERANCE = 0.01;
  private static final String ACCELERATE = "\"index.vamana.accelerate\": true";
  private static final String NUMBERED = "\"number\": {\"type\": \"integer\"}, ";
  private static final String FILTER =
      ", \"filter\": {\"range\": {\"number\": {\"gte\": " + COUNT / 4 + "}}}";

  private NodeHome home;
  private RunningNode node;

  @After
  public void stopNode() throws IOException {
    if (node != null) {
      node.close();
    }
    if (home != null) {
      home.delete();
    }
  }

  private TestIndex index(String name) {
    return new TestIndex(node.client(), name);
  }

  private void create(String name, String type, String settings) throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            settings,
            NUMBERED + TestIndex.denseVector("v", "float", DIMS, "cosine", type));
    index.index(0, COUNT, AcceleratedIT::source);
    index.forceMerge();
    index.delete(0, COUNT, doc -> doc < DELETED);
    index.flush();
  }

  private static String source(int doc) {
    return "{\"number\": " + doc + ", \"v\": " + VECTORS.json(doc) + "}";
  }

  /** Requests of each kind that a node answers without and with a device. */
  private static List<String> requests(int query) {
    String knn =
        Json.of(
            "\"field\": \"v\", \"query_vector\": %s, \"k\": 10, \"num_candidates\": 80",
            ASKED.json(query));
    return List.of(
        "{\"knn\": {" + knn + "}, \"_source\": false}",
        "{\"knn\": {" + knn + FILTER + "}, \"_source\": false}",
        "{\"knn\": {" + knn + ", \"similarity\": 0.1}, \"_source\": false}",
        "{\"knn\": {" + knn + ", \"rescore_vector\": {\"oversample\": 2}}, \"_source\": false}",
        "{\"query\": {\"knn\": {" + knn + "}}, \"_source\": false}");
  }

  private List<List<Double>> scores(String name) throws IOException {
    List<List<Double>> scores = new ArrayList<>();
    for (int query = 0; query < QUERIES; query++) {
      for (String request : requests(query)) {
        Map<String, Object> answer = index(name).search(request);
        scores.add(
            ((List<?>) NodeClient.at(answer, "hits", "hits"))
                .stream()
                    .map(hit -> ((Number) NodeClient.at(hit, "_score")).doubleValue())
                    .toList());
      }
    }
    return scores;
  }

  /** Returns the mean score of all hits; each request has as many as the other index has. */
  private static double mean(List<List<Double>> scores, List<List<Double>> others) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < scores.size(); i++) {
      assertEquals(others.get(i).size(), scores.get(i).size());
      sum += scores.get(i).stream().mapToDouble(Double::doubleValue).sum();
      count += scores.get(i).size();
    }
    return sum / count;
  }

  @Test
  public void testDeviceSearchesStockIndices() throws IOException {
    home = SimulatedGpuNode.home("accelerated");
    node =
        RunningNode.start(
            home, SimulatedGpuNode.options().withSetting("vamana.gpu.wait_for_upload", "true"));
    for (String type : TYPES) {
      create(type, type, "");
      create(type + "-fast", type, ACCELERATE);
    }
    for (String type : TYPES) {
      assertResident(type + "-fast");
      long before = SimulatedGpuNode.onDevice(node);
      List<List<Double>> fast = scores(type + "-fast");
      assertTrue(type, SimulatedGpuNode.onDevice(node) - before >= 2L * QUERIES);
      List<List<Double>> stock = scores(type);
      assertTrue(type, mean(fast, stock) >= mean(stock, fast) - TOLERANCE);
      assertBatch(type + "-fast", fast);
    }
    assertDefaultsChange();
    String log = node.log();
    for (String bad : List.of("AssertionError", "NotEntitled", "the CPU answers what the GPU")) {
      assertFalse(log, log.contains(bad));
    }
    assertSameWithoutThePlugin();
  }

  /** Segments with a graph are listed with their place on the device. */
  private void assertResident(String name) throws IOException {
    String[] rows =
        node.client()
            .send("GET", "/_cat/vamana/" + name + "?h=placement,state,vectors", null, "text/plain")
            .body()
            .strip()
            .split("\n");
    for (String row : rows) {
      assertTrue(name + " " + row, row.startsWith("exact") && row.contains("resident"));
    }
  }

  /** A batch has the hits of single searches. */
  private void assertBatch(String name, List<List<Double>> single) throws IOException {
    StringBuilder vectors = new StringBuilder();
    for (int query = 0; query < QUERIES; query++) {
      vectors.append(query == 0 ? "[" : ",").append(ASKED.json(query));
    }
    Map<String, Object> answer =
        node.client()
            .post(
                "/" + name + "/_vamana/search?format=columns",
                "{\"field\": \"v\", \"k\": 10, \"num_candidates\": 80, \"query_vectors\": "
                    + vectors
                    + "]}");
    for (int query = 0; query < QUERIES; query++) {
      List<Double> expected = single.get(query * requests(query).size());
      List<?> found = (List<?>) NodeClient.at(answer, "scores", query);
      for (int i = 0; i < expected.size(); i++) {
        assertEquals(expected.get(i), ((Number) found.get(i)).doubleValue(), TOLERANCE);
      }
    }
  }

  /** The setting takes effect by one request that reopens the index. */
  private void assertDefaultsChange() throws IOException {
    TestIndex index = index("hnsw");
    node.client().put("/hnsw/_settings?reopen=true", "{" + ACCELERATE + "}");
    index.awaitHealth("green");
    long before = SimulatedGpuNode.onDevice(node);
    scores("hnsw");
    assertTrue(SimulatedGpuNode.onDevice(node) - before >= 2L * QUERIES);
    node.client().put("/hnsw/_settings?reopen=true", "{\"index.vamana.accelerate\": null}");
    index.awaitHealth("green");
    long after = SimulatedGpuNode.onDevice(node);
    scores("hnsw");
    assertEquals(after, SimulatedGpuNode.onDevice(node));
  }

  /** The server opens no index with a setting that it does not know, so the setting goes first. */
  private void assertSameWithoutThePlugin() throws IOException {
    for (String type : TYPES) {
      TestIndex index = index(type + "-fast");
      index.close();
      index.set("\"index.vamana.accelerate\": null");
      index.open();
    }
    // the test's own settings of the node are all that is left
    List<?> left = (List<?>) node.client().get("/_vamana/removal").get("in_the_way");
    assertEquals(left.toString(), 1, left.size());
    assertEquals("node_settings", NodeClient.at(left, 0, "kind"));
    node.stop();
    home.removePlugin("vamana");
    node = RunningNode.start(home, PluginNode.options());
    for (String type : TYPES) {
      index(type + "-fast").awaitHealth("green");
      List<List<Double>> stock = scores(type);
      List<List<Double>> before = scores(type + "-fast");
      assertEquals(type, mean(stock, before), mean(before, stock), TOLERANCE);
      index(type + "-fast").index(0, 10, AcceleratedIT::source);
      index(type + "-fast").forceMerge();
    }
  }
}
