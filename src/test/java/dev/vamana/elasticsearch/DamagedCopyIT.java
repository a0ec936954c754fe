package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * A copy of a shard with a damaged file, on a node with a simulated GPU or one without. When the
 * damage is noticed, the copy fails, and the copy on the other node answers.
 */
public class DamagedCopyIT {
  private static final int DIMS = 16;
  private static final int COUNT = 2000;
  // in the middle of the vectors' file, which has them in the order of their documents
  private static final int DAMAGED_FROM = 800;
  private static final int DAMAGED_TO = 1200;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 98);
  private static final long AWAIT_NANOS = 60_000_000_000L;

  private static NodeHome gpuHome;
  private static NodeHome cpuHome;
  private static RunningNode gpu;
  private static RunningNode cpu;

  @BeforeClass
  public static void startNodes() throws IOException {
    gpuHome = SimulatedGpuNode.home("damaged-gpu");
    cpuHome = PluginNode.home("damaged-cpu");
    gpu =
        RunningNode.start(
            gpuHome,
            SimulatedGpuNode.options()
                .withSetting("node.name", "gpu")
                .withSetting("cluster.initial_master_nodes", "gpu"));
    cpu =
        RunningNode.start(
            cpuHome,
            PluginNode.options()
                .withSetting("node.name", "cpu")
                .withSetting("vamana.gpu.enabled", "off")
                .withSetting("discovery.seed_hosts", gpu.transportAddress()));
  }

  @AfterClass
  public static void stopNodes() throws IOException {
    for (RunningNode started : new RunningNode[] {cpu, gpu}) {
      if (started != null) {
        started.close();
        assertFalse(started.log(), started.log().contains("AssertionError"));
      }
    }
    for (NodeHome assembled : new NodeHome[] {gpuHome, cpuHome}) {
      if (assembled != null) {
        assembled.delete();
      }
    }
  }

  @Before
  public void deleteIndices() throws IOException {
    gpu.client().delete("/photos?ignore_unavailable=true");
  }

  /** An index of one segment with a copy on each node. */
  private static TestIndex create(String settings) throws IOException {
    TestIndex index =
        TestIndex.create(
            gpu.client(),
            "photos",
            TestIndex.VAMANA
                + ", \"index.vamana.pq.threshold\": 0, \"index.vamana.pq.subspaces\": 8"
                + ", \"index.number_of_replicas\": 1, \"index.compound_format\": 0"
                + settings,
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.awaitHealth("green");
    // what a flush writes is a compound file, whatever the settings say
    index.index(0, COUNT / 2, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    index.index(COUNT / 2, COUNT, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    index.forceMerge();
    index.flush();
    assertEquals(2, index.segments().size());
    return index;
  }

  /** Overwrites a part of the copy's longest file of a type. */
  private static void damage(NodeHome home, String extension, double from, double to, int value)
      throws IOException {
    try (Stream<Path> files = Files.walk(home.root().resolve("data"))) {
      Path longest =
          files
              .filter(file -> file.toString().endsWith(extension))
              .max((one, other) -> Long.compare(one.toFile().length(), other.toFile().length()))
              .orElseThrow();
      try (RandomAccessFile file = new RandomAccessFile(longest.toFile(), "rw")) {
        byte[] bytes = new byte[(int) (file.length() * (to - from))];
        Arrays.fill(bytes, (byte) value);
        file.seek((long) (file.length() * from));
        file.write(bytes);
      }
    }
  }

  private static void damageVectors(NodeHome home) throws IOException {
    damage(home, ".vec", (double) DAMAGED_FROM / COUNT, (double) DAMAGED_TO / COUNT, 0);
  }

  private static Object onlyAnswer(Map<String, Object> answer) {
    assertEquals(answer.toString(), 0, NodeClient.at(answer, "_shards", "failed"));
    return ((List<?>) NodeClient.at(answer, "hits", "hits")).get(0);
  }

  /** Each of the vectors that a copy has lost is its own nearest neighbour. */
  private static void assertRight(RunningNode asked, String parameters) throws IOException {
    for (int doc = DAMAGED_FROM + 20; doc < DAMAGED_TO - 20; doc += 20) {
      Map<String, Object> answer =
          asked
              .client()
              .post(
                  "/photos/_search?allow_partial_search_results=false" + parameters,
                  "{\"knn\": {\"field\": \"v\", \"k\": 1, \"num_candidates\": 50,"
                      + " \"query_vector\": "
                      + VECTORS.json(doc)
                      + "}}");
      Object best = onlyAnswer(answer);
      assertEquals(answer.toString(), String.valueOf(doc), NodeClient.at(best, "_id"));
      assertEquals(1, ((Number) NodeClient.at(best, "_score")).doubleValue(), 1e-5);
    }
  }

  private static void awaitInLog(RunningNode node, String text) throws IOException {
    long deadline = System.nanoTime() + AWAIT_NANOS;
    while (node.log().contains(text) == false) {
      assertTrue(text + " is not in the log " + node.log(), System.nanoTime() < deadline);
    }
  }

  /** Waits until the copy of a node has started, so that it can answer when the other one fails. */
  private static void awaitCopyOn(String node) throws IOException {
    long deadline = System.nanoTime() + AWAIT_NANOS;
    String started = "";
    while (started.contains(node + " STARTED") == false) {
      assertTrue(started, System.nanoTime() < deadline);
      started =
          gpu.client()
              .send("GET", "/_cat/shards/photos?h=node,state", null, "application/json")
              .body()
              .replaceAll(" +", " ");
    }
  }

  /** Waits until the failed copy was replaced, after which both copies are intact. */
  private static void assertReplaced(TestIndex index) throws IOException {
    // the health stays green until the master has heard of the failure
    long deadline = System.nanoTime() + AWAIT_NANOS;
    Map<String, Object> answer;
    do {
      index.awaitHealth("green");
      answer = gpu.client().post("/photos/_vamana/warmup", null);
      assertTrue(answer.toString(), System.nanoTime() < deadline);
    } while (NodeClient.at(answer, "_shards", "successful").equals(2) == false
        || answer.get("damaged_files").equals(0) == false);
    assertRight(gpu, "&preference=_only_local");
    assertRight(cpu, "&preference=_only_local");
  }

  @Test
  public void testWarmupOnANodeWithoutAGpu() throws IOException {
    TestIndex index = create("");
    index.close();
    damageVectors(cpuHome);
    index.open();
    index.awaitHealth("green");
    Map<String, Object> answer = gpu.client().post("/photos/_vamana/warmup", null);
    assertEquals(answer.toString(), 1, answer.get("damaged_files"));
    assertEquals(answer.toString(), 2, NodeClient.at(answer, "_shards", "successful"));
    // its answer comes when the copy has failed
    assertRight(cpu, "");
    assertRight(gpu, "");
    awaitInLog(cpu, "[photos][0] segment ");
    awaitInLog(cpu, "has a damaged file, so this copy of the shard fails");
    awaitInLog(cpu, "vamana read corrupt files");
    assertReplaced(index);
  }

  @Test
  public void testUploadWhenAShardStarts() throws IOException {
    TestIndex index = create(", \"index.vamana.warm\": true");
    index.close();
    damageVectors(gpuHome);
    index.open();
    awaitInLog(gpu, "[photos][0] segment ");
    awaitCopyOn("cpu");
    assertRight(gpu, "");
    assertRight(cpu, "");
    awaitInLog(gpu, "has a damaged file, so this copy of the shard fails");
    assertReplaced(index);
  }

  @Test
  public void testUploadByASearch() throws IOException {
    TestIndex index = create("");
    index.close();
    damageVectors(gpuHome);
    index.open();
    awaitInLog(gpu, "[photos][0] segment ");
    awaitCopyOn("cpu");
    assertRight(gpu, "");
    assertRight(cpu, "");
    assertReplaced(index);
  }

  @Test
  public void testBatchThatReadsADamagedGraph() throws IOException {
    TestIndex index = create("");
    index.close();
    damage(cpuHome, ".vex", 0.05, 0.95, 0x7f);
    index.open();
    index.awaitHealth("green");
    String query =
        "{\"field\": \"v\", \"query_vectors\": ["
            + VECTORS.json(DAMAGED_FROM)
            + "], \"k\": 1, \"num_candidates\": 2}";
    Map<String, Object> answer =
        cpu.client().post("/photos/_vamana/search?preference=_local", query);
    Object response = ((List<?>) answer.get("responses")).get(0);
    Object best = ((List<?>) NodeClient.at(response, "hits", "hits")).get(0);
    assertEquals(answer.toString(), String.valueOf(DAMAGED_FROM), NodeClient.at(best, "_id"));
    awaitInLog(cpu, "names neighbor");
    awaitInLog(cpu, "failed engine [vamana read corrupt files]");
    assertReplaced(index);
  }
}
