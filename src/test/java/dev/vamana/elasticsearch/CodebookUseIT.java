package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.After;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** Requests that the endpoints refuse, and trainings in the background. */
public class CodebookUseIT {
  private static final int DIMS = 4;

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static NodeClient client;

  @BeforeClass
  public static void startNode() throws IOException {
    client = CLUSTER.first().client();
  }

  @After
  public void deleteAll() throws IOException {
    client.delete("/wide,one,two?ignore_unavailable=true");
    client.delete("/_ingest/pipeline/*");
    CodebookAnswers.deleteAll(client);
  }

  private static String codebook(int dims, String similarity) {
    List<List<Float>> rows = new ArrayList<>();
    for (int i = 0; i < 256; i++) {
      rows.add(Collections.nCopies(dims, (float) i));
    }
    return Json.of(
        """
        {"dims": %d, "subspaces": 1, "similarity": "%s", "centroids": [%s]}
        """,
        dims, similarity, rows);
  }

  private static void assertVersion(int version) throws IOException {
    assertEquals(version, CodebookAnswers.only(client, "used").get("version"));
  }

  private static TestIndex create(String name, String settings) throws IOException {
    return TestIndex.create(
        client,
        name,
        TestIndex.VAMANA + settings,
        TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
  }

  private static void assertAnswer(
      int status, String method, String path, String body, String... named) throws IOException {
    NodeClient.Response response = client.send(method, path, body, "application/json");
    assertEquals(response.body(), status, response.status());
    for (String name : named) {
      assertTrue("no " + name + " in " + response.body(), response.body().contains(name));
    }
  }

  @Test
  public void testVersionsThatDoNotFit() throws IOException {
    String path = "/_vamana/codebooks/used";
    assertAnswer(200, "PUT", path, codebook(DIMS, "cosine"), "{\"acknowledged\":true}");
    assertAnswer(
        409,
        "PUT",
        path,
        codebook(2 * DIMS, "cosine"),
        "codebook [used] has dims [4] and similarity [cosine]",
        "[8] and [cosine]",
        "another name");
    assertAnswer(409, "PUT", path, codebook(DIMS, "l2_norm"), "[4] and [l2_norm]");
    assertVersion(1);
    client.put(path, codebook(DIMS, "dot_product"));
    assertVersion(2);
    client.delete(path);
    client.put(path, codebook(2 * DIMS, "cosine"));
    assertVersion(1);
  }

  @Test
  public void testTrainingFromSeveralIndices() throws IOException {
    for (String name : List.of("one", "two")) {
      create(name, "")
          .index(0, 200, doc -> "{\"v\": " + TestVectors.random(1, DIMS, doc).json(0) + "}");
    }
    String path = "/_vamana/codebooks/several/_train";
    for (String indices : List.of("\"one,two\"", "[\"one\", \"two\"]")) {
      String body = "{\"index\": " + indices + ", \"field\": \"v\"}";
      assertAnswer(200, "POST", path, body, "\"documents\":400", "index [one,two] field [v]");
    }
    assertAnswer(400, "POST", path, "{\"index\": [{}], \"field\": \"v\"}", "[index]");
    assertAnswer(
        400, "POST", path, "{\"index\": \"one\", \"field\": [\"v\"]}", "field", "START_ARRAY");
    assertAnswer(
        400,
        "POST",
        path,
        "{\"index\": \"one\", \"field\": \"v\", \"sample_size\": {}}",
        "sample_size",
        "START_OBJECT");
    new TestIndex(client, "two").close();
    String closed = "{\"index\": \"one,two\", \"field\": \"v\"}";
    assertAnswer(400, "POST", path, closed, "two", "closed");
  }

  /** A mistake of the caller is no warning of the node, and the task ends with the training. */
  @Test
  public void testTrainingInTheBackgroundThatFails() throws Exception {
    create("one", "")
        .index(0, 100, doc -> "{\"v\": " + TestVectors.random(1, DIMS, doc).json(0) + "}");
    Map<String, Object> begun =
        client.post(
            "/_vamana/codebooks/failing/_train?wait_for_completion=false",
            "{\"index\": \"one\", \"field\": \"v\"}");
    String task = (String) begun.get("task");
    Map<String, Object> result = client.get("/_tasks/" + task + "?wait_for_completion=true");
    assertEquals(true, result.get("completed"));
    String reason = (String) NodeClient.at(result, "error", "reason");
    assertTrue(reason, reason.contains("at least 256 vectors"));
    Map<?, ?> failed = CodebookAnswers.only(client, "failing");
    assertEquals("failed", failed.get("state"));
    assertEquals(reason, NodeClient.at(failed, "failure", "reason"));
    String line = "training codebook [failing] failed: " + reason;
    assertTrue(CLUSTER.first().log().contains(line));
    for (String logged : CLUSTER.first().log().lines().toList()) {
      assertFalse(logged, logged.contains("WARN") && logged.contains("[failing]"));
    }
    assertAnswer(200, "DELETE", "/_vamana/codebooks/failing", null);
  }

  @Test
  public void testTrainingThatDoesNotFit() throws IOException {
    client.put("/_vamana/codebooks/trained", codebook(DIMS, "l2_norm"));
    TestIndex.create(
            client,
            "wide",
            TestIndex.VAMANA,
            TestIndex.denseVector("v", "float", 2 * DIMS, "l2_norm", "hnsw"))
        .index(0, 300, doc -> "{\"v\": " + TestVectors.random(1, 2 * DIMS, doc).json(0) + "}");
    assertAnswer(
        409,
        "POST",
        "/_vamana/codebooks/trained/_train",
        "{\"index\": \"wide\", \"field\": \"v\"}",
        "[trained]",
        "another name");
  }
}
