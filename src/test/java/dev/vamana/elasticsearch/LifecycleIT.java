package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** Changes to an opted-in index while its node runs; answers are compared with exact ones. */
public class LifecycleIT {
  private static final int DIMS = 12;
  private static final int COUNT = 500;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 21);
  private static final TestVectors QUERIES = TestVectors.random(5, DIMS, 22);
  private static final IntPredicate LIVE = doc -> doc % 7 != 2;

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static RunningNode node;

  @BeforeClass
  public static void startNode() throws IOException {
    node = CLUSTER.first();
  }

  /** An index of all documents in several segments, some of them deleted. */
  private static TestIndex filled(String name, String settings) throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            settings,
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.index(0, COUNT / 2, LifecycleIT::source);
    index.index(COUNT / 2, COUNT, LifecycleIT::source);
    index.delete(0, COUNT, LIVE.negate());
    return index;
  }

  private static String source(int doc) {
    return "{\"v\": " + VECTORS.json(doc) + "}";
  }

  private static void assertAnswers(TestIndex index, IntPredicate accepted) throws IOException {
    for (int i = 0; i < QUERIES.count(); i++) {
      float[] query = QUERIES.vector(i);
      Answers.assertBest(
          VECTORS.scores(query, Similarity.L2_NORM, accepted), 10, index.knn("v", query, 10, 150));
    }
  }

  private static void assertOurs(TestIndex index) throws IOException {
    index.assertSegmentsInOurFormat(true);
    assertAnswers(index, LIVE);
  }

  /** One request changes the settings of an open index, another one rewrites its segments. */
  @Test
  public void testReopen() throws IOException {
    TestIndex index = filled("reopening", "");
    index.assertSegmentsInOurFormat(false);
    for (boolean ours : new boolean[] {true, false}) {
      String settings = ours ? TestIndex.VAMANA : "\"index.vamana.enabled\": false";
      node.client().put("/reopening/_settings?reopen=true", "{" + settings + "}");
      index.awaitHealth("green");
      index.forceMerge();
      index.assertSegmentsInOurFormat(ours);
      assertAnswers(index, LIVE);
    }
  }

  @Test
  public void testSnapshotAndRestore() throws IOException {
    TestIndex index = filled("kept", TestIndex.VAMANA);
    String location = node.home().root().resolve("repository").toString();
    node.client()
        .put(
            "/_snapshot/backup",
            "{\"type\": \"fs\", \"settings\": {\"location\": \"" + location + "\"}}");
    Map<String, Object> made =
        node.client()
            .put("/_snapshot/backup/one?wait_for_completion=true", "{\"indices\": \"kept\"}");
    assertEquals("SUCCESS", NodeClient.at(made, "snapshot", "state"));
    node.client().delete("/" + index.name());
    Map<String, Object> restored =
        node.client()
            .post(
                "/_snapshot/backup/one/_restore?wait_for_completion=true",
                """
                {"indices": "kept", "rename_pattern": "kept", "rename_replacement": "restored"}
                """);
    assertEquals(0, NodeClient.at(restored, "snapshot", "shards", "failed"));
    TestIndex copy = new TestIndex(node.client(), "restored");
    copy.awaitHealth("green");
    assertOurs(copy);
  }

  @Test
  public void testCloneSplitAndShrink() throws IOException {
    TestIndex source = filled("source", TestIndex.VAMANA + ", \"index.number_of_shards\": 2");
    source.set("\"index.blocks.write\": true");
    assertResized(source, "_clone", 2);
    assertResized(source, "_split", 4);
    assertResized(source, "_shrink", 1);
  }

  private static void assertResized(TestIndex source, String kind, int shards) throws IOException {
    String name = "resized" + kind;
    node.client()
        .put(
            "/" + source.name() + "/" + kind + "/" + name,
            Json.of(
                """
            {"settings": {"index.number_of_shards": %d, "index.number_of_replicas": 0,
                          "index.blocks.write": null}}
            """,
                shards));
    TestIndex index = new TestIndex(node.client(), name);
    index.awaitHealth("green");
    Map<String, Object> settings = node.client().get("/" + name + "/_settings?flat_settings=true");
    assertEquals("true", NodeClient.at(settings, name, "settings", "index.vamana.enabled"));
    assertOurs(index);
    index.forceMerge();
    assertEquals(shards, index.segments().size());
    assertOurs(index);
  }

  @Test
  public void testWayInForExistingData() throws IOException {
    TestIndex index = filled("existing", "");
    index.forceMerge();
    assertEquals(1, index.segments().size());
    index.assertSegmentsInOurFormat(false);
    index.close();
    index.set(TestIndex.VAMANA);
    index.open();
    index.assertSegmentsInOurFormat(false);
    assertAnswers(index, LIVE);

    // Segments of both formats answer together.
    index.index(0, 30, LifecycleIT::source);
    IntPredicate accepted = LIVE.or(doc -> doc < 30);
    assertTrue(index.segments().size() > 1);
    assertAnswers(index, accepted);

    index.forceMerge();
    assertEquals(1, index.segments().size());
    index.assertSegmentsInOurFormat(true);
    assertAnswers(index, accepted);
  }

  @Test
  public void testWayInForOneSegmentAndTheWayOut() throws IOException {
    TestIndex index = filled("both", "");
    index.forceMerge();
    for (boolean enabled : new boolean[] {true, false, true}) {
      index.close();
      index.set("\"index.vamana.enabled\": " + enabled);
      index.open();
      index.forceMerge();
      index.assertSegmentsInOurFormat(enabled);
      assertEquals(1, index.segments().size());
      assertAnswers(index, LIVE);
    }
  }

  /** A build that would take minutes has to end with its index. */
  @Test
  public void testDeletingAnIndexEndsItsMerge() throws IOException, InterruptedException {
    int count = 16_000;
    TestVectors vectors = TestVectors.random(count, 32, 23);
    TestIndex index =
        TestIndex.create(
            node.client(),
            "doomed",
            """
            "index.vamana.enabled": true, "index.vamana.max_degree": 128,
            "index.vamana.beam_width": 4096, "index.vamana.graph_threshold": 10000\
            """,
            TestIndex.denseVector("v", "float", 32, "l2_norm", "hnsw"));
    for (int from = 0; from < count; from += count / 2) {
      index.index(from, from + count / 2, doc -> "{\"v\": " + vectors.json(doc) + "}");
    }
    node.client().post("/doomed/_forcemerge?max_num_segments=1&wait_for_completion=false", null);
    awaitBuilding(true);
    node.client().delete("/doomed");
    awaitBuilding(false);
    assertFalse(node.log().contains("merge failed"));
    assertFalse(node.log().contains("failed engine"));
  }

  /** Without memory for graphs, a node with its entitlements builds them in temporary files. */
  @Test
  public void testGraphsAreBuiltInFilesWhereMemoryIsScarce() throws IOException {
    long before = builds("files");
    limitBuildMemory("\"0b\"");
    try {
      TestIndex index = filled("in-files", TestIndex.VAMANA);
      index.forceMerge();
      assertOurs(index);
      assertTrue("no file was used", builds("files") > before);
      assertEquals(0, builds("limit_in_bytes"));
      assertEquals(0, builds("used_in_bytes"));
      node.client().delete("/in-files");
    } finally {
      limitBuildMemory("null");
    }
    assertTrue(builds("limit_in_bytes") > 0);
    assertFalse(node.log().contains("NotEntitledException"));
  }

  private static void limitBuildMemory(String limit) throws IOException {
    node.client()
        .put(
            "/_cluster/settings",
            "{\"persistent\": {\"vamana.build.memory.limit\": " + limit + "}}");
  }

  private static long builds(String member) throws IOException {
    Map<String, Object> stats = node.client().get("/_vamana/nodes/_local/stats/memory");
    Object only = ((Map<?, ?>) stats.get("nodes")).values().iterator().next();
    return ((Number) NodeClient.at(only, "memory", "builds", member)).longValue();
  }

  private static void awaitBuilding(boolean expected) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (PluginNode.buildPool(node).active() > 0 != expected) {
      assertTrue("building is not " + expected, System.nanoTime() < deadline);
      Thread.sleep(50);
    }
  }
}
