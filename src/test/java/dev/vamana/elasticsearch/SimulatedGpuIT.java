package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
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
import java.util.StringJoiner;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/**
 * The whole way of a REST search to a device and back, in a real node with entitlements on:
 * segments that the server has mapped are uploaded or registered, and the kernels run. The device
 * is simulated.
 */
public class SimulatedGpuIT {
  private static final int DIMS = 16;
  // enough for a graph that the device builds
  private static final int COUNT = 4200;
  private static final int DELETED = 100;
  private static final int QUERIES = 15;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 71);
  private static final long AWAIT_NANOS = 60_000_000_000L;

  private NodeHome home;

  @Before
  public void assembleHome() throws IOException {
    home = SimulatedGpuNode.home("simulated-gpu");
  }

  @After
  public void deleteHome() throws IOException {
    if (home != null) {
      home.delete();
    }
  }

  private static NodeOptions options(String placement) {
    return PluginNode.options()
        .withSetting("vamana.gpu.enabled", "required")
        .withSetting("vamana.gpu.placement", placement)
        .withSetting("vamana.gpu.build", "auto")
        .withSetting("vamana.gpu.plan", "graph")
        .withSetting("vamana.gpu.wait_for_upload", "true");
  }

  @Test
  public void testSearchesAreAnsweredByTheDevice() throws IOException {
    String log;
    try (RunningNode node = RunningNode.start(home, options("auto"))) {
      awaitUsable(node);
      TestIndex index =
          TestIndex.create(
              node.client(),
              "photos",
              TestIndex.VAMANA
                  + ", \"index.vamana.pq.threshold\": 0, \"index.vamana.pq.subspaces\": 8",
              TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
      index.index(0, COUNT, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
      index.forceMerge();
      assertBuiltByTheDevice(node);
      index.delete(0, COUNT, doc -> doc < DELETED);
      Map<?, ?> stats = SimulatedGpuNode.stats(node);
      assertEquals("required", NodeClient.at(stats, "state", "enabled"));
      assertEquals("ready", NodeClient.at(stats, "state", "state"));
      assertEquals(true, NodeClient.at(stats, "state", "usable"));
      assertEquals("simulated", NodeClient.at(stats, "devices", 0, "name"));
      assertAnsweredByTheDevice(node, index);
      assertBatchIsOneLaunch(node, index);
      assertListedAsResident(node);
      assertListsAreSearchedByTheDevice(node);
      assertPlansAreCounted(node, index);
      Scrape.assertSameAsJson(node.client(), "/_vamana/nodes/stats");
      node.client().delete("/photos");
      // lanes keep their scratch
      long scratch = SimulatedGpuNode.counter(node, "memory", "scratch", "used_in_bytes");
      assertEquals(scratch, awaitUsed(node, "device", scratch));
      long built = SimulatedGpuNode.counter(node, "build", "gpu", "graphs", "count");
      createMapped(node, "apart", 0);
      // the merge keeps the rows of the larger half and inserts the other
      assertTrue(SimulatedGpuNode.counter(node, "build", "graphs", "nodes_reused") > 0);
      assertEquals(built + 1, SimulatedGpuNode.counter(node, "build", "gpu", "graphs", "count"));
      createMapped(node, "compound", 1);
      node.stop();
      log = node.log();
    }
    assertNothingWentWrong(log);
    try (RunningNode node = RunningNode.start(home, options("mapped-graph"))) {
      for (String name : List.of("apart", "compound")) {
        assertAnsweredByTheDevice(node, new TestIndex(node.client(), name));
        assertTrue(SimulatedGpuNode.counter(node, "memory", "page_cache", "used_in_bytes") > 0);
      }
      assertEquals(
          SimulatedGpuNode.onDevice(node),
          SimulatedGpuNode.counter(node, "executor", "items", "by_placement", "mapped-graph"));
      // whoever deletes an index unmaps its files, which the device must not read any more then
      node.client().delete("/apart");
      node.client().delete("/compound");
      assertEquals(0L, awaitUsed(node, "page_cache", 0));
      node.stop();
      log = node.log();
    }
    assertNothingWentWrong(log);
  }

  private static void assertBuiltByTheDevice(RunningNode node) throws IOException {
    assertTrue(SimulatedGpuNode.counter(node, "build", "gpu", "graphs", "count") > 0);
    Map<?, ?> onCpu =
        (Map<?, ?>) NodeClient.at(SimulatedGpuNode.stats(node), "build", "gpu", "graphs", "on_cpu");
    onCpu.forEach(
        (reason, count) ->
            assertTrue(reason + " " + count, reason.equals("too_small") || count.equals(0)));
  }

  /** Pinned while the node runs, each plan answers, and the statistics tell so. */
  private static void assertPlansAreCounted(RunningNode node, TestIndex index) throws IOException {
    assertTrue(SimulatedGpuNode.counter(node, "executor", "items", "by_plan", "graph") >= QUERIES);
    assertEquals(0, SimulatedGpuNode.counter(node, "executor", "items", "by_plan", "scan"));
    pin(node, "\"exact\"");
    assertAnsweredByTheDevice(node, index);
    String[] scan = {"executor", "items", "by_plan", "scan"};
    String[] gather = {"executor", "items", "by_plan", "gather"};
    assertEquals(
        QUERIES, SimulatedGpuNode.counter(node, scan) + SimulatedGpuNode.counter(node, gather));
    float[] query = VECTORS.vector(500);
    Map<Integer, Double> scores =
        new HashMap<>(VECTORS.scores(query, Similarity.L2_NORM, doc -> doc >= DELETED));
    assertEquals(1, Answers.recall(scores, 10, index.knn("v", query, 10, 10)), 0);
    String profiled =
        "{\"profile\": true, \"knn\": {\"field\": \"v\", \"k\": 10, \"query_vector\": ";
    assertEquals(
        COUNT - DELETED,
        Answers.profiledDistances(index.search(profiled + TestVectors.json(query) + "}}")));
    pin(node, "\"cpu\"");
    long onCpu = SimulatedGpuNode.counter(node, "executor", "items", "on_cpu", "planned");
    index.knn("v", query, 10, 60);
    assertEquals(
        onCpu + 1, SimulatedGpuNode.counter(node, "executor", "items", "on_cpu", "planned"));
    assertEquals(onCpu + 1, SimulatedGpuNode.counter(node, "executor", "items", "by_plan", "cpu"));
    pin(node, "null");
  }

  private static void pin(RunningNode node, String plan) throws IOException {
    node.client().set("vamana.gpu.plan", plan);
  }

  /** The row of the only segment tells of its place on the device. */
  private static void assertListedAsResident(RunningNode node) throws IOException {
    String columns = "placement,state,vectors,graph.disk,device,codebook";
    String[] row =
        node.client()
            .send("GET", "/_cat/vamana/photos?bytes=b&h=" + columns, null, "text/plain")
            .body()
            .strip()
            .split("\\s+");
    String all = String.join(" ", row);
    assertEquals(all, 6, row.length);
    assertEquals(all, "exact resident " + COUNT, row[0] + " " + row[1] + " " + row[2]);
    long graph = Long.parseLong(row[3]);
    assertTrue(all, graph > 0 && Long.parseLong(row[4]) > graph + 4L * DIMS * COUNT);
    assertEquals(all, "own", row[5]);
  }

  /** An index of inverted lists beside the other. */
  private static void assertListsAreSearchedByTheDevice(RunningNode node) throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            "lists",
            "\"index.vamana.enabled\": true, \"index.vamana.type\": \"ivf\","
                + " \"index.vamana.graph_threshold\": 0, \"index.vamana.codes\": \"pq\"",
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.index(0, COUNT, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    index.forceMerge();
    index.delete(0, COUNT, doc -> doc < DELETED);
    String[] lists = {"executor", "items", "by_plan", "lists"};
    long before = SimulatedGpuNode.counter(node, lists);
    assertAnsweredByTheDevice(node, index);
    assertTrue(SimulatedGpuNode.counter(node, lists) >= before + QUERIES);
    String columns = "placement,state,codes.disk,device";
    String row =
        node.client()
            .send("GET", "/_cat/vamana/lists?bytes=b&h=" + columns, null, "text/plain")
            .body()
            .strip();
    String[] cells = row.split("\\s+");
    assertEquals(row, "exact resident", cells[0] + " " + cells[1]);
    assertTrue(row, Long.parseLong(cells[3]) >= Long.parseLong(cells[2]));
    node.client().delete("/lists");
  }

  private static void createMapped(RunningNode node, String name, int compound) throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            TestIndex.VAMANA
                + ", \"index.vamana.pq.threshold\": 0, \"index.compound_format\": "
                + compound,
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    // a flush makes a compound file whatever the settings say: only what a merge writes heeds them
    index.index(0, COUNT / 2, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    index.index(COUNT / 2, COUNT, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    index.forceMerge();
    index.delete(0, COUNT, doc -> doc < DELETED);
    node.client().post("/" + name + "/_flush", null);
  }

  private static void assertAnsweredByTheDevice(RunningNode node, TestIndex index)
      throws IOException {
    long before = SimulatedGpuNode.onDevice(node);
    double recall = 0;
    for (int i = 0; i < QUERIES; i++) {
      float[] query = VECTORS.vector(i * (COUNT / QUERIES));
      Map<String, Object> answer = index.knn("v", query, 10, 60);
      Map<Integer, Double> scores =
          new HashMap<>(VECTORS.scores(query, Similarity.L2_NORM, doc -> doc >= DELETED));
      recall += Answers.recall(scores, 10, answer) / QUERIES;
    }
    assertTrue("recall " + recall, recall >= 0.9);
    assertTrue(
        SimulatedGpuNode.stats(node).toString(),
        SimulatedGpuNode.onDevice(node) >= before + QUERIES);
    Map<?, ?> onCpu =
        (Map<?, ?>) NodeClient.at(SimulatedGpuNode.stats(node), "executor", "items", "on_cpu");
    onCpu.forEach((reason, count) -> assertEquals(reason.toString(), 0, count));
  }

  /** All vectors of a request go to the device at once; both forms have the same hits. */
  private static void assertBatchIsOneLaunch(RunningNode node, TestIndex index) throws IOException {
    StringJoiner vectors = new StringJoiner(",", "[", "]");
    for (int i = 0; i < QUERIES; i++) {
      vectors.add(VECTORS.json(i * (COUNT / QUERIES)));
    }
    node.client()
        .put(
            "/" + index.name() + "/_mapping",
            "{\"properties\": {\"va\": {\"type\": \"alias\", \"path\": \"v\"}}}");
    for (String format : List.of("columns", "hits")) {
      String field = format.equals("columns") ? "va" : "v";
      String body =
          "{\"field\": \"" + field + "\", \"k\": 10, \"num_candidates\": 60, \"query_vectors\": ";
      long items = SimulatedGpuNode.onDevice(node);
      long launches = SimulatedGpuNode.counter(node, "executor", "launches", "count");
      Map<String, Object> answer =
          node.client()
              .post("/" + index.name() + "/_vamana/search?format=" + format, body + vectors + "}");
      assertEquals(items + QUERIES, SimulatedGpuNode.onDevice(node));
      assertEquals(launches + 1, SimulatedGpuNode.counter(node, "executor", "launches", "count"));
      List<?> answers = (List<?>) answer.get(format.equals("columns") ? "ids" : "responses");
      assertEquals(QUERIES, answers.size());
      for (int i = 0; i < QUERIES; i++) {
        Map<String, Object> single = index.knn("v", VECTORS.vector(i * (COUNT / QUERIES)), 10, 60);
        Object found = answers.get(i);
        List<?> ids = format.equals("columns") ? (List<?>) found : ids(found);
        assertEquals(ids(single), ids);
      }
    }
  }

  private static List<?> ids(Object answer) {
    return ((List<?>) NodeClient.at(answer, "hits", "hits"))
        .stream().map(hit -> NodeClient.at(hit, "_id")).toList();
  }

  private static void assertNothingWentWrong(String log) {
    for (String bad : List.of("AssertionError", "NotEntitled", "the CPU answers what the GPU")) {
      assertFalse(log, log.contains(bad));
    }
  }

  /** Waits for the self-test, during which the CPU builds and searches. */
  private static void awaitUsable(RunningNode node) throws IOException {
    long deadline = System.nanoTime() + AWAIT_NANOS;
    while (NodeClient.at(SimulatedGpuNode.stats(node), "state", "usable").equals(false)) {
      assertTrue("the device was not usable in time", System.nanoTime() < deadline);
    }
  }

  /** Readers are closed a moment after the index is deleted. */
  private static long awaitUsed(RunningNode node, String name, long least) throws IOException {
    long deadline = System.nanoTime() + AWAIT_NANOS;
    long value = SimulatedGpuNode.counter(node, "memory", name, "used_in_bytes");
    while (value > least && System.nanoTime() < deadline) {
      value = SimulatedGpuNode.counter(node, "memory", name, "used_in_bytes");
    }
    return value;
  }
}
