package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.After;
import org.junit.Test;

/**
 * What readers have open inside a real node: its directories must give us graph, codes and raw
 * vectors as memory segments, and an installed executor must serve segments that were opened again.
 */
public class MappedFilesIT {
  private static final int DIMS = 16;
  private static final int COUNT = 2000;
  private static final int SUBSPACES = 4;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 51);

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

  @Test
  public void testMemorySegmentsAndExecutorOfAReopenedIndex() throws IOException {
    home = NodeHome.assemble(Path.of("target", "node", "mapped"), zipWithProbe());
    node = RunningNode.start(home, PluginNode.options());
    create("compound", true);
    create("apart", false);
    assertMapped("compound", true);
    assertMapped("apart", false);
    for (String name : List.of("compound", "apart")) {
      TestIndex index = new TestIndex(node.client(), name);
      index.close();
      index.open();
    }
    assertMapped("compound", true);
    assertMapped("apart", false);
    long before = workItems("apart");
    TestIndex index = new TestIndex(node.client(), "apart");
    for (int doc = 0; doc < 10; doc++) {
      float[] query = VECTORS.vector(doc * 100);
      Map<String, Object> answer = index.knn("v", query, 1, 20);
      Answers.assertBest(VECTORS.scores(query, Similarity.L2_NORM, d -> true), 1, answer);
    }
    assertEquals(before + 10, workItems("apart"));
  }

  private void create(String name, boolean compound) throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            TestIndex.VAMANA
                + ", \"index.vamana.pq.threshold\": 0, \"index.vamana.pq.subspaces\": "
                + SUBSPACES
                + ", \"index.compound_format\": "
                + (compound ? 1 : 0),
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    // A flush makes a compound file whatever the settings say: only what a merge writes heeds them.
    for (int from = 0; from < COUNT; from += COUNT / 2) {
      index.index(from, from + COUNT / 2, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    }
    index.forceMerge();
    index.assertSegmentsInOurFormat(true);
  }

  private long workItems(String index) throws IOException {
    return ((Number) node.client().get("/_probe/" + index).get("work_items")).longValue();
  }

  private void assertMapped(String index, boolean compound) throws IOException {
    List<?> fields = (List<?>) node.client().get("/_probe/" + index).get("fields");
    assertFalse(fields.isEmpty());
    for (Object shown : fields) {
      Map<?, ?> field = (Map<?, ?>) shown;
      String message = field.toString();
      assertEquals(message, compound, field.get("compound"));
      for (String region : List.of("graph", "codes", "vectors")) {
        assertEquals(message, true, field.get(region + "_mapped"));
      }
      int size = (Integer) field.get("size");
      assertEquals(message, size * DIMS * Float.BYTES, field.get("vectors_bytes"));
      assertEquals(message, size * SUBSPACES, field.get("codes_bytes"));
      assertTrue(message, (Integer) field.get("graph_bytes") >= size * 16 * Integer.BYTES);
    }
  }

  private static Path zipWithProbe() throws IOException {
    return TestPluginZip.write(
        "probe",
        ProbePlugin.class,
        List.of("dev/vamana/elasticsearch/(ForwardingPlugin|Probe).*"),
        Map.of());
  }
}
