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

  private List<List<?>> answers(String name) throws IOException {
    List<List<?>> ids = new ArrayList<>();
    for (int query = 0; query < QUERIES; query++) {
      for (String request : requests(query)) {
        Map<String, Object> answer = index(name).search(request);
        ids.add(
            ((List<?>) NodeClient.at(answer, "hits", "hits"))
                .stream().map(hit -> NodeClient.at(hit, "_id")).toList());
      }
    }
    return ids;
  }

  private static double shared(List<List<?>> expected, List<List<?>> actual) {
    double found = 0;
    int count = 0;
    for (int i = 0; i < expected.size(); i++) {
      found += expected.get(i).stream().filter(actual.get(i)::contains).count();
      count += expected.get(i).size();
      assertEquals(expected.get(i).size(), actual.get(i).size());
    }
    return found / count;
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
      List<List<?>> fast = answers(type + "-fast");
      assertTrue(type, SimulatedGpuNode.onDevice(node) - before >= 2L * QUERIES);
      // both find most of the nearest
      double shared = shared(answers(type), fast);
      assertTrue(type + " " + shared, shared >= 0.85);
      assertBatch(type + "-fast", fast);
    }
    assertDefaultsChange();
    String log = node.log();
    for (String bad : List.of("AssertionError", "NotEntitled", "the CPU answers what the GPU")) {
      assertFalse(log, log.contains(bad));
    }
    node.stop();

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
  private void assertBatch(String name, List<List<?>> single) throws IOException {
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
    List<?> ids = (List<?>) answer.get("ids");
    int found = 0;
    for (int query = 0; query < QUERIES; query++) {
      List<?> expected = single.get(query * requests(query).size());
      found += (int) ((List<?>) ids.get(query)).stream().filter(expected::contains).count();
    }
    assertTrue(name + " " + found, found >= 9 * QUERIES);
  }

  /** The setting takes effect by one request that reopens the index. */
  private void assertDefaultsChange() throws IOException {
    TestIndex index = index("hnsw");
    node.client().put("/hnsw/_settings?reopen=true", "{" + ACCELERATE + "}");
    index.awaitHealth("green");
    long before = SimulatedGpuNode.onDevice(node);
    answers("hnsw");
    assertTrue(SimulatedGpuNode.onDevice(node) - before >= 2L * QUERIES);
    node.client().put("/hnsw/_settings?reopen=true", "{\"index.vamana.accelerate\": null}");
    index.awaitHealth("green");
    long after = SimulatedGpuNode.onDevice(node);
    answers("hnsw");
    assertEquals(after, SimulatedGpuNode.onDevice(node));
  }

  private void assertSameWithoutThePlugin() throws IOException {
    home.removePlugin("vamana");
    node = RunningNode.start(home, PluginNode.options());
    for (String type : TYPES) {
      index(type + "-fast").awaitHealth("green");
      assertTrue(type, shared(answers(type), answers(type + "-fast")) >= 0.85);
      index(type + "-fast").index(0, 10, AcceleratedIT::source);
      index(type + "-fast").forceMerge();
    }
  }
}
