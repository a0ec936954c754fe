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
import org.junit.Before;
import org.junit.Test;

/** A shard's segments are sent to the device together, by ordinary requests of a real node. */
public class SegmentsAheadIT {

  private static final int DIMS = 16;
  private static final int SEGMENTS = 4;
  private static final int SIZE = 600;
  private static final int QUERIES = 25;
  private static final TestVectors VECTORS = TestVectors.random(SEGMENTS * SIZE, DIMS, 72);

  private NodeHome home;

  @Before
  public void assembleHome() throws IOException {
    home = SimulatedGpuNode.home("segments-ahead");
  }

  @After
  public void deleteHome() throws IOException {
    if (home != null) {
      home.delete();
    }
  }

  private static long ahead(RunningNode node, String what) throws IOException {
    return SimulatedGpuNode.counter(node, "executor", "items", "ahead", what);
  }

  private static List<Object> ask(TestIndex index) throws IOException {
    List<Object> found = new ArrayList<>();
    for (int i = 0; i < QUERIES; i++) {
      Map<String, Object> answer = index.knn("v", VECTORS.vector(i * 7), 5, 20);
      List<?> hits = (List<?>) NodeClient.at(answer, "hits", "hits");
      assertEquals(5, hits.size());
      hits.forEach(
          hit -> found.add(NodeClient.at(hit, "_id") + " " + NodeClient.at(hit, "_score")));
    }
    return found;
  }

  private static void sendAhead(RunningNode node, boolean ahead) throws IOException {
    node.client().set("vamana.gpu.batch.segments_ahead", ahead);
  }

  @Test
  public void testRequestsOfSeveralSegments() throws IOException {
    try (RunningNode node =
        RunningNode.start(
            home,
            SimulatedGpuNode.options()
                .withSetting("vamana.gpu.placement", "device")
                .withSetting("vamana.gpu.precision", "float32")
                .withSetting("vamana.gpu.wait_for_upload", "true"))) {
      TestIndex index =
          TestIndex.create(
              node.client(),
              "parts",
              TestIndex.VAMANA,
              TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
      for (int segment = 0; segment < SEGMENTS; segment++) {
        index.index(
            segment * SIZE, (segment + 1) * SIZE, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
        node.client().post("/parts/_flush?force=true", null);
      }
      for (int round = 0; round < 2; round++) {
        sendAhead(node, false);
        long sent = ahead(node, "sent");
        List<Object> expected = ask(index);
        assertEquals(sent, ahead(node, "sent"));
        sendAhead(node, true);
        long used = ahead(node, "used");
        assertEquals(expected, ask(index));
        used = ahead(node, "used") - used;
        // idle threads search segments side by side, so any segment may be a query's first; what
        // follows it is learned from the first queries that begin there
        assertTrue(used + " used", used >= (SEGMENTS - 1) * (QUERIES - 3 * SEGMENTS));
        // the next round has deleted documents
        index.delete(0, SEGMENTS * SIZE, doc -> doc % 50 == 3);
      }
      node.stop();
      assertFalse(node.log(), node.log().contains("the CPU answers what the GPU"));
    }
  }
}
