package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.After;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** What the endpoints refuse because indices and pipelines use a codebook. */
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
    client.delete("/photos,wide,one,two?ignore_unavailable=true");
    client.delete("/_ingest/pipeline/*");
    CodebookAnswers.deleteAll(client);
  }

  private static String codebook(int dims, String similarity) {
    ByteBuffer centroids = ByteBuffer.allocate(256 * dims * Float.BYTES);
    for (int i = 0; i < 256 * dims; i++) {
      centroids.putFloat(i);
    }
    return Json.of(
        """
        {"dims": %d, "similarity": "%s", "centroids": "%s"}
        """,
        dims, similarity, Base64.getEncoder().encodeToString(centroids.array()));
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
  public void testVersionsThatDoNotFitTheIndicesInUse() throws IOException {
    String path = "/_vamana/codebooks/used";
    client.put(path, codebook(DIMS, "l2_norm"));
    create("photos", ", \"index.vamana.codebook.v\": \"used\"");
    assertAnswer(
        409,
        "PUT",
        path,
        codebook(2 * DIMS, "l2_norm"),
        "[used]",
        "field [v] of index [photos]",
        "dims [4], the new version has [8]",
        "force=true");
    assertAnswer(409, "PUT", path, codebook(DIMS, "cosine"), "similarity [l2_norm]", "[photos]");
    assertEquals(1, CodebookAnswers.only(client, "used").get("version"));
    assertAnswer(200, "PUT", path, codebook(DIMS, "l2_norm"), "\"version\":2");
    assertAnswer(200, "PUT", path + "?force=true", codebook(2 * DIMS, "l2_norm"), "version\":3");
    // the index cannot use version 3, so version 4 takes nothing from it
    assertAnswer(200, "PUT", path, codebook(3 * DIMS, "l2_norm"), "version\":4");
  }

  @Test
  public void testFirstVersionForIndicesThatWaitForIt() throws IOException {
    create("photos", ", \"index.vamana.codebook.v\": \"later\"").close();
    String path = "/_vamana/codebooks/later";
    assertAnswer(409, "PUT", path, codebook(2 * DIMS, "l2_norm"), "[later]", "[photos]");
    assertAnswer(404, "GET", path, null);
    assertAnswer(200, "PUT", path, codebook(DIMS, "l2_norm"), "\"version\":1");
  }

  @Test
  public void testCentroidsThatTellNothingApart() throws IOException {
    String zeros =
        Json.of(
            "{\"dims\": 8, \"subspaces\": 3, \"similarity\": \"l2_norm\", \"centroids\": \"%s\"}",
            Base64.getEncoder().encodeToString(new byte[256 * 8 * Float.BYTES]));
    String path = "/_vamana/codebooks/zeros";
    assertAnswer(400, "PUT", path, zeros, "[centroids]", "256", "equal");
    assertAnswer(404, "GET", path, null);
    byte[] last = new byte[256 * 8 * Float.BYTES];
    last[last.length - 3] = 1;
    String text = Base64.getEncoder().encodeToString(last);
    client.put(path, zeros.replaceFirst("\"centroids\": \"[^\"]+", "\"centroids\": \"" + text));
  }

  private static void assertPipelineRefused(String options, String... named) throws IOException {
    String body =
        Json.of("{\"processors\": [{\"vamana_train\": {\"field\": \"v\", %s}}]}", options);
    assertAnswer(400, "PUT", "/_ingest/pipeline/feed", body, named);
  }

  @Test
  public void testPipelinesThatFeedNothing() throws IOException {
    assertPipelineRefused("\"codebook\": \"{{kind}}\", \"dims\": 4", "[codebook]", "[{{kind}}]");
    client.put("/_vamana/codebooks/known", codebook(DIMS, "l2_norm"));
    assertPipelineRefused(
        "\"codebook\": \"known\", \"dims\": 5, \"similarity\": \"l2_norm\"",
        "pipeline [feed]",
        "dims [5]",
        "codebook [known] is ready and has dims [4]");
    client.put(
        "/_ingest/pipeline/feed",
        "{\"processors\": [{\"vamana_train\": {\"field\": \"v\", \"codebook\": \"known\","
            + " \"dims\": 4, \"similarity\": \"l2_norm\"}}]}");
  }

  @Test
  public void testPipelineThatHasSeenNoDocument() throws IOException {
    client.put(
        "/_ingest/pipeline/feed",
        "{\"processors\": [{\"vamana_train\": {\"field\": \"v\", \"codebook\": \"unseen\","
            + " \"dims\": 4}}]}");
    Map<?, ?> unseen = CodebookAnswers.only(client, "unseen");
    assertEquals("sampling", unseen.get("state"));
    assertEquals(4, unseen.get("dims"));
    assertEquals(0, NodeClient.at(unseen, "sampling", "documents"));
    client.delete("/_ingest/pipeline/feed");
    assertAnswer(404, "GET", "/_vamana/codebooks/unseen", null, "[unseen]");
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
    assertAnswer(400, "POST", path, "{\"index\": [7], \"field\": \"v\"}", "[index]", "[7]");
    assertAnswer(
        400, "POST", path, "{\"index\": \"one\", \"field\": [\"v\"]}", "[field]", "an array");
    assertAnswer(
        400,
        "POST",
        path,
        "{\"index\": \"one\", \"field\": \"v\", \"sample_size\": {}}",
        "[sample_size]",
        "an object");
    new TestIndex(client, "two").close();
    String closed = "{\"index\": \"one,two\", \"field\": \"v\"}";
    assertAnswer(400, "POST", path, closed, "index [two] is closed", "open it");
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
    Map<?, ?> failed = CodebookAnswers.awaitState(client, "failing", "failed");
    String reason = (String) NodeClient.at(failed, "failure", "reason");
    assertTrue(reason, reason.contains("at least 256 vectors"));
    String line = "training codebook [failing] failed: " + reason;
    assertTrue(CLUSTER.first().log().contains(line));
    for (String logged : CLUSTER.first().log().lines().toList()) {
      assertFalse(logged, logged.contains("WARN") && logged.contains("[failing]"));
    }
    long end = System.nanoTime() + 120_000_000_000L;
    while (client.send("GET", "/_tasks/" + task, null, null).status() != 404) {
      assertTrue("task " + task + " goes on", System.nanoTime() < end);
    }
    assertAnswer(200, "DELETE", "/_vamana/codebooks/failing", null);
  }

  @Test
  public void testTrainingThatDoesNotFit() throws IOException {
    create("photos", ", \"index.vamana.codebook.v\": \"trained\"");
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
        "field [v] of index [photos]",
        "another name");
  }
}
