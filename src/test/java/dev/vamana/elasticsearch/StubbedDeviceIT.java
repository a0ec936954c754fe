package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.cuda.driver.StubLibraries;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * A node, entitlements on, that finds {@link StubLibraries} in the place of NVIDIA's: probing,
 * JCuda, uploads, launches and recovery run inside it as they would with a device.
 */
public class StubbedDeviceIT {
  private static final int DIMS = 16;
  private static final int COUNT = 3000;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 52);

  private static NodeHome home;
  private static RunningNode node;

  @BeforeClass
  public static void startNode() throws Exception {
    home = PluginNode.home("stubbed");
    Path folder = home.root().toAbsolutePath().resolve("stub");
    Files.createDirectories(folder);
    StubLibraries libraries = StubLibraries.compile(folder);
    NodeOptions options =
        PluginNode.options()
            .withSetting("vamana.gpu.enabled", "required")
            .withSetting("vamana.gpu.precision", "pq")
            .withSetting("vamana.gpu.plan", "graph")
            .withSetting("vamana.gpu.wait_for_upload", "true")
            // the plugin may be built without kernels; the node then compiles them with a stand-in
            .withSetting("vamana.gpu.kernels.compile", "true")
            .withEnvironment(libraries.environment());
    node = RunningNode.start(home, options);
  }

  @AfterClass
  public static void stopNode() throws IOException {
    if (node != null) {
      node.close();
      node = null;
    }
    if (home != null) {
      home.delete();
      home = null;
    }
  }

  private static Object stats(Object... path) throws IOException {
    Map<?, ?> nodes = (Map<?, ?>) node.client().get("/_vamana/nodes/stats").get("nodes");
    return NodeClient.at(nodes.values().iterator().next(), path);
  }

  private static long answered(String placement) throws IOException {
    return ((Number) stats("executor", "items", "by_placement", placement)).longValue();
  }

  @Test
  public void testInMemory() throws IOException {
    assertAnswersFromTheDevice("in-memory");
  }

  @Test
  public void testMappedGraph() throws IOException {
    assertAnswersFromTheDevice("mapped-graph");
  }

  private void assertAnswersFromTheDevice(String placement) throws IOException {
    node.client()
        .set(
            "vamana.gpu.placement", "\"" + Placement.named(placement).place().settingName() + "\"");
    assertEquals(String.valueOf(stats("state")), "ready", stats("state", "state"));
    assertEquals("stub", stats("devices", 0, "name"));
    TestIndex index =
        TestIndex.create(
            node.client(),
            placement,
            TestIndex.VAMANA
                + ", \"index.vamana.pq.threshold\": 0, \"index.vamana.pq.subspaces\": 8",
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    for (int from = 0; from < COUNT; from += COUNT / 3) {
      index.index(from, from + COUNT / 3, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    }
    double recall = 0;
    int queries = 20;
    for (int query = 0; query < queries; query++) {
      float[] vector = VECTORS.vector(query * (COUNT / queries));
      Map<Integer, Double> scores = VECTORS.scores(vector, Similarity.L2_NORM, doc -> true);
      recall += Answers.recall(scores, 10, index.knn("v", vector, 10, 100)) / queries;
    }
    assertTrue("recall " + recall, recall >= 0.9);
    // three segments a query
    assertEquals(stats("executor", "items", "on_cpu").toString(), 3 * queries, answered(placement));
    index.delete(0, COUNT, doc -> doc % 50 == 0);
    float[] vector = VECTORS.vector(1);
    Answers.assertBest(
        VECTORS.scores(vector, Similarity.L2_NORM, doc -> doc % 50 != 0),
        1,
        index.knn("v", vector, 1, 50));
    // where deleted documents leave a walk with too few hits, the CPU answers
    assertTrue(stats("executor", "items", "on_cpu").toString(), answered(placement) > 3 * queries);
    index.forceMerge();
    Answers.assertBest(
        VECTORS.scores(vector, Similarity.L2_NORM, doc -> doc % 50 != 0),
        1,
        index.knn("v", vector, 1, 50));
    node.client().delete("/" + placement);
    assertFalse(node.log(), node.log().toLowerCase(Locale.ROOT).contains("entitled"));
    assertFalse(node.log(), node.log().contains("the CPU answers"));
  }
}
