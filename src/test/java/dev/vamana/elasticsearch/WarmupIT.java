package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.elasticsearch.common.settings.Setting;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * Warm-up, warm indices, the breaker and settings that change, on a node with a simulated GPU and
 * one without.
 */
public class WarmupIT {
  private static final int DIMS = 16;
  private static final int COUNT = 2000;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 97);

  private static NodeHome home;
  private static NodeHome otherHome;
  private static RunningNode node;
  private static RunningNode other;

  @BeforeClass
  public static void startNodes() throws IOException {
    home = SimulatedGpuNode.home("warmup-gpu");
    otherHome = PluginNode.home("warmup-cpu");
    node = startGpuNode("0");
    other =
        RunningNode.start(
            otherHome,
            PluginNode.options()
                .withSetting("node.name", "cpu")
                .withSetting("vamana.gpu.enabled", "off")
                .withSetting("discovery.seed_hosts", node.transportAddress()));
  }

  private static RunningNode startGpuNode(String transportPort) throws IOException {
    return RunningNode.start(
        home,
        SimulatedGpuNode.options()
            .withSetting("node.name", "gpu")
            .withSetting("transport.port", transportPort)
            .withSetting("cluster.initial_master_nodes", "gpu"));
  }

  @AfterClass
  public static void stopNodes() throws IOException {
    for (RunningNode started : new RunningNode[] {other, node}) {
      if (started != null) {
        started.close();
      }
    }
    for (NodeHome assembled : new NodeHome[] {home, otherHome}) {
      if (assembled != null) {
        assembled.delete();
      }
    }
  }

  @Before
  public void deleteIndices() throws IOException {
    node.client().delete("/photos?ignore_unavailable=true");
    node.client().set("vamana.*", null);
    assertEquals(0, SimulatedGpuNode.awaitNoSegments(node));
  }

  private static TestIndex create(String settings, int... segments) throws IOException {
    return create(TestIndex.VAMANA, settings, segments);
  }

  private static TestIndex create(String base, String settings, int... segments)
      throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            "photos",
            base
                + ", \"index.vamana.pq.threshold\": 0, \"index.vamana.pq.subspaces\": 8"
                + ", \"index.routing.allocation.require._name\": \"gpu\""
                + settings,
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    int from = 0;
    for (int count : segments) {
      index.index(from, from + count, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
      from += count;
    }
    return index;
  }

  private static Map<String, Object> warmup(String parameters) throws IOException {
    return node.client().post("/photos/_vamana/warmup" + parameters, null);
  }

  private static List<Map<?, ?>> copies(Map<String, Object> answer) {
    List<Map<?, ?>> copies = new ArrayList<>();
    for (Object shard :
        ((Map<?, ?>) NodeClient.at(answer, "indices", "photos", "shards")).values()) {
      ((List<?>) shard).forEach(copy -> copies.add((Map<?, ?>) copy));
    }
    return copies;
  }

  private static List<Map<?, ?>> segments(Map<String, Object> answer) {
    List<Map<?, ?>> segments = new ArrayList<>();
    for (Map<?, ?> copy : copies(answer)) {
      ((List<?>) copy.get("segments")).forEach(segment -> segments.add((Map<?, ?>) segment));
    }
    return segments;
  }

  private static void assertAllResident(Map<String, Object> answer, int count) {
    assertEquals(answer.toString(), false, answer.get("timed_out"));
    assertEquals(answer.toString(), count, NodeClient.at(answer, "segments", "resident"));
    assertEquals(count, segments(answer).size());
    long bytes = 0;
    for (Map<?, ?> segment : segments(answer)) {
      assertEquals(answer.toString(), "resident", segment.get("state"));
      assertEquals("v", segment.get("field"));
      assertNull(segment.get("reason"));
      bytes += ((Number) segment.get("device_in_bytes")).longValue();
    }
    assertTrue(bytes > 0);
    assertEquals(bytes, ((Number) answer.get("device_in_bytes")).longValue());
  }

  @Test
  public void testWarmupAndClear() throws IOException {
    create("", 1000, 1000);
    Map<String, Object> answer = warmup("");
    assertEquals(1, NodeClient.at(answer, "_shards", "successful"));
    assertAllResident(answer, 2);
    assertEquals("exact", segments(answer).get(0).get("placement"));
    assertEquals(1000, segments(answer).get(0).get("vectors"));
    assertEquals(answer.get("device_in_bytes"), (int) deviceBytes());
    Map<String, Object> cleared = node.client().post("/photos/_vamana/clear_cache", null);
    assertEquals(answer.get("device_in_bytes"), cleared.get("freed_in_bytes"));
    assertEquals(2, copies(cleared).get(0).get("segments"));
    assertEquals(0, deviceBytes());
    assertEquals(0, node.client().post("/photos/_vamana/clear_cache", null).get("freed_in_bytes"));
    assertAllResident(warmup("?timeout=30s"), 2);
    Map<String, Object> noWait = warmup("?wait_for_completion=false");
    assertEquals(false, noWait.get("timed_out"));
    assertAllResident(noWait, 2);
    // asked of the node that holds nothing, by alias and pattern
    node.client().put("/photos/_alias/pictures", null);
    assertAllResident(other.client().post("/pictures/_vamana/warmup", null), 2);
    assertAllResident(other.client().post("/photo*/_vamana/warmup", null), 2);
  }

  @Test
  public void testReplicaOnANodeWithoutAGpu() throws IOException {
    TestIndex index = create("", 500);
    index.set(
        "\"index.routing.allocation.require._name\": null, \"index.number_of_replicas\": 1,"
            + " \"index.routing.rebalance.enable\": \"none\"");
    index.awaitHealth("green");
    Map<String, Object> answer = warmup("");
    assertEquals(answer.toString(), 2, NodeClient.at(answer, "_shards", "successful"));
    assertEquals(answer.toString(), 1, NodeClient.at(answer, "segments", "resident"));
    assertEquals(answer.toString(), 1, NodeClient.at(answer, "segments", "no_device"));
    assertEquals("resident", segments(answer).get(0).get("state"));
    assertEquals(true, copies(answer).get(0).get("primary"));
    assertEquals("no device", segments(answer).get(1).get("reason"));
    Map<String, Object> cleared = other.client().post("/photos/_vamana/clear_cache", null);
    assertEquals(2, NodeClient.at(cleared, "_shards", "successful"));
    assertEquals(answer.get("device_in_bytes"), cleared.get("freed_in_bytes"));
  }

  @Test
  public void testSegmentsThatAreRefusedSayWhy() throws IOException {
    String none = "\"index.vamana.graph_threshold\": ";
    // a graph; 32,000 bytes of vectors to scan; too few to scan
    create(TestIndex.VAMANA.replace(none + "0", none + "1000"), "", 1000, 500, 200);
    Map<String, Object> answer = warmup("");
    assertEquals(answer.toString(), 2, NodeClient.at(answer, "segments", "resident"));
    assertEquals(answer.toString(), 1, NodeClient.at(answer, "segments", "refused"));
    assertEquals("unsupported", segments(answer).get(2).get("reason"));
    node.client().delete("/photos");
    create("", 1000);
    set("\"vamana.gpu.placement\": \"mapped-graph\", \"vamana.gpu.page_cache.limit\": \"0b\"");
    clear();
    answer = warmup("");
    assertEquals(answer.toString(), "over budget", segments(answer).get(0).get("reason"));
  }

  @Test
  public void testWarmIndex() throws IOException {
    TestIndex index = create(", \"index.vamana.warm\": true", 700);
    // the first was uploaded after its refresh; a shard that starts waits for it
    index.close();
    assertEquals(0, SimulatedGpuNode.awaitNoSegments(node));
    index.open();
    assertTrue(deviceBytes() > 0);
    assertEquals(
        1, SimulatedGpuNode.counter(node, "residency", "segments", "by_placement", "exact"));
    // what was taken from the device comes back with the next refresh that finds anything new
    clear();
    index.index(700, 1200, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    awaitSegments(2);
    // as an index becomes warm, its segments come
    index.set("\"index.vamana.warm\": false");
    clear();
    assertEquals(0, deviceBytes());
    index.set("\"index.vamana.warm\": true");
    awaitSegments(2);
  }

  @Test
  public void testBreakerRefusesAndTheCpuAnswers() throws IOException {
    // the self-test leaves pinned memory to the lanes
    Object kept = breaker().get("estimated_size_in_bytes");
    TestIndex index = create("", COUNT);
    assertAllResident(warmup(""), 1);
    assertAnswers(index);
    long onDevice = SimulatedGpuNode.onDevice(node);
    assertTrue(onDevice > 0);
    set("\"vamana.breaker.limit\": \"1kb\", \"vamana.breaker.overhead\": 2.0");
    assertAnswers(index);
    assertEquals(onDevice, SimulatedGpuNode.onDevice(node));
    assertTrue(SimulatedGpuNode.counter(node, "executor", "items", "on_cpu", "out_of_memory") > 0);
    Map<?, ?> breaker = breaker();
    assertEquals(1024, breaker.get("limit_size_in_bytes"));
    assertEquals(2.0, breaker.get("overhead"));
    assertEquals(kept, breaker.get("estimated_size_in_bytes"));
    assertTrue(breaker.toString(), ((Number) breaker.get("tripped")).longValue() > 0);
    set("\"vamana.breaker.limit\": null, \"vamana.breaker.overhead\": null");
    assertAnswers(index);
    assertTrue(SimulatedGpuNode.onDevice(node) > onDevice);
    assertEquals(kept, breaker().get("estimated_size_in_bytes"));
  }

  @Test
  public void testSettingsThatChange() throws IOException {
    create("", 1000);
    assertAllResident(warmup(""), 1);
    long limit = SimulatedGpuNode.counter(node, "memory", "device", "limit_in_bytes");
    set("\"vamana.gpu.memory.limit\": \"64mb\", \"vamana.gpu.page_cache.limit\": \"1mb\"");
    assertEquals(64L << 20, SimulatedGpuNode.counter(node, "memory", "device", "limit_in_bytes"));
    assertEquals(
        1L << 20, SimulatedGpuNode.counter(node, "memory", "page_cache", "limit_in_bytes"));
    set("\"vamana.gpu.memory.limit\": null");
    assertEquals(limit, SimulatedGpuNode.counter(node, "memory", "device", "limit_in_bytes"));
    set("\"vamana.gpu.precision\": \"int8\"");
    // what lies there stays as it is
    assertEquals("exact", segments(warmup("")).get(0).get("placement"));
    clear();
    assertEquals("exact-int8", segments(warmup("")).get(0).get("placement"));
    set(
        "\"vamana.gpu.batch.max_size\": 1, \"vamana.gpu.batch.linger\": \"1ms\","
            + " \"vamana.gpu.wait_for_upload\": true");
  }

  /** A warm-up that waits for uploads which do not come, once it is seen at work. */
  private static FutureTask<NodeClient.Response> waitingWarmup(RunningNode asked) throws Exception {
    FutureTask<NodeClient.Response> request =
        new FutureTask<>(
            () -> asked.client().send("POST", "/photos/_vamana/warmup?timeout=10m", null, null));
    new Thread(request, "warm-up").start();
    while (warmups("%5Bn%5D").isEmpty()) {
      if (request.isDone()) {
        fail("the warm-up ended before it was seen: " + request.get().body());
      }
    }
    return request;
  }

  /** Running warm-ups: of the whole request with an empty suffix, or of nodes with {@code [n]}. */
  private static Map<?, ?> warmups(String suffix) throws IOException {
    Map<String, Object> tasks =
        node.client().get("/_tasks?actions=indices:admin/vamana/warmup" + suffix);
    return (Map<?, ?>) tasks.get("nodes");
  }

  @Test
  public void testCancelledWarmup() throws Exception {
    // uploads begin as soon as there is a segment
    SimulatedGpuNode.setCopies(node, true);
    try {
      create("", 1000, 1000);
      for (RunningNode asked : new RunningNode[] {node, other}) {
        FutureTask<NodeClient.Response> request = waitingWarmup(asked);
        node.client().post("/_tasks/_cancel?actions=indices:admin/vamana/warmup", null);
        NodeClient.Response response = request.get(60, TimeUnit.SECONDS);
        assertEquals(response.body(), 400, response.status());
        assertTrue(response.body(), response.body().contains("task_cancelled_exception"));
        assertEquals(Map.of(), warmups("*"));
      }
    } finally {
      SimulatedGpuNode.setCopies(node, false);
    }
    // only the waiting was cancelled: what was on its way arrives
    awaitSegments(2);
    assertAllResident(warmup(""), 2);
  }

  @Test
  public void testNodeThatDiesInAWarmup() throws Exception {
    SimulatedGpuNode.setCopies(node, true);
    create("", 1000);
    FutureTask<NodeClient.Response> request = waitingWarmup(other);
    String address = node.transportAddress();
    node.kill();
    try {
      NodeClient.Response response = request.get(60, TimeUnit.SECONDS);
      assertEquals(response.body(), 200, response.status());
      Map<String, Object> answer = response.json();
      assertEquals(response.body(), 1, NodeClient.at(answer, "_shards", "failed"));
      assertEquals(response.body(), 0, NodeClient.at(answer, "_shards", "successful"));
      Object reason = NodeClient.at(answer, "_shards", "failures", 0, "reason");
      assertTrue(response.body(), reason.toString().contains("node_disconnected_exception"));
    } finally {
      // where the other node looks for it
      node = startGpuNode(address.substring(address.lastIndexOf(':') + 1));
    }
    String health = "/_cluster/health/photos?wait_for_nodes=2&wait_for_status=green&timeout=60s";
    assertEquals(false, node.client().get(health).get("timed_out"));
    assertAllResident(warmup(""), 1);
  }

  @Test
  public void testEverySettingIsListed() throws IOException {
    Map<String, Object> answer =
        node.client().get("/_cluster/settings?include_defaults&flat_settings");
    Set<String> missing = new TreeSet<>();
    for (Setting<?> setting : VamanaPlugin.SETTINGS) {
      if (setting.hasNodeScope()
          && ((Map<?, ?>) answer.get("defaults")).containsKey(setting.getKey()) == false) {
        missing.add(setting.getKey());
      }
    }
    assertEquals(Set.of(), missing);
  }

  private static void assertAnswers(TestIndex index) throws IOException {
    double recall = 0;
    for (int i = 0; i < 10; i++) {
      float[] query = VECTORS.vector(i * 17);
      recall +=
          Answers.recall(
                  VECTORS.scores(query, TestVectors.Similarity.L2_NORM, doc -> true),
                  10,
                  index.knn("v", query, 10, 60))
              / 10;
    }
    assertTrue("recall " + recall, recall >= 0.9);
  }

  private static void set(String settings) throws IOException {
    node.client().put("/_cluster/settings", "{\"persistent\": {" + settings + "}}");
  }

  private static void clear() throws IOException {
    node.client().post("/photos/_vamana/clear_cache", null);
  }

  private static long deviceBytes() throws IOException {
    return SimulatedGpuNode.counter(node, "memory", "device", "used_in_bytes")
        - SimulatedGpuNode.counter(node, "memory", "scratch", "used_in_bytes");
  }

  private static void awaitSegments(long count) throws IOException {
    long end = System.nanoTime() + 60_000_000_000L;
    long seen = -1;
    while (seen != count && System.nanoTime() - end < 0) {
      seen = SimulatedGpuNode.counter(node, "residency", "segments", "by_placement", "exact");
    }
    assertEquals(count, seen);
    assertFalse(node.log(), node.log().contains("AssertionError"));
  }

  private static Map<?, ?> breaker() throws IOException {
    Map<?, ?> nodes = (Map<?, ?>) node.client().get("/_nodes/_local/stats/breaker").get("nodes");
    return (Map<?, ?>) NodeClient.at(nodes.values().iterator().next(), "breakers", "vamana");
  }
}
