package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** Shared codebooks on a real node: from pipelines, from indices, imported, used and deleted. */
public class CodebooksIT {
  private static final int DIMS = 24;
  private static final int COUNT = 1_500;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 91);

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static RunningNode node;

  @BeforeClass
  public static void startNode() throws IOException {
    node = CLUSTER.first();
  }

  @AfterClass
  public static void deleteCodebooks() throws IOException {
    CodebookAnswers.deleteAll(node.client());
  }

  private static String source(int doc) {
    return "{\"v\": " + VECTORS.json(doc) + "}";
  }

  private static void putPipeline(String id, String options) throws IOException {
    node.client()
        .put(
            "/_ingest/pipeline/" + id,
            Json.of(
                """
            {"processors": [{"vamana_train": {"field": "v", %s}}]}
            """,
                options));
  }

  private static TestIndex create(String name, String settings) throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            TestIndex.VAMANA + settings,
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.awaitHealth("green");
    return index;
  }

  /** Its pipeline is stored and has seen no document. */
  private static void assertUnseen(String name) throws IOException {
    assertEquals("sampling", codebook(name).get("state"));
    assertDocuments(0, name);
  }

  private static void assertDocuments(int expected, String name) throws IOException {
    assertEquals(expected, CodebookAnswers.sample(node.client(), name).get("documents"));
  }

  private static Map<?, ?> codebook(String name) throws IOException {
    return CodebookAnswers.only(node.client(), name);
  }

  /** Names and versions of the codebooks that an index's segments have, each once. */
  private static List<String> codebooksOfSegments(String index) throws IOException {
    NodeClient.Response response =
        send("GET", "/_cat/vamana/" + index + "?h=codebook,codebook.version", null);
    assertEquals(response.body(), 200, response.status());
    return response
        .body()
        .lines()
        .map(line -> line.strip().replaceAll(" +", " "))
        .distinct()
        .sorted()
        .toList();
  }

  private static NodeClient.Response send(String method, String path, String body)
      throws IOException {
    return node.client().send(method, path, body, "application/json");
  }

  private static void assertRefused(
      int status, String message, String method, String path, String body) throws IOException {
    NodeClient.Response response = send(method, path, body);
    assertEquals(response.body(), status, response.status());
    assertTrue(response.body(), response.body().contains(message));
  }

  @Test
  public void testFromPipelineToSegmentsAndThroughARestart() throws Exception {
    putPipeline(
        "feed",
        "\"codebook\": \"fed\", \"dims\": 24, \"similarity\": \"l2_norm\", \"subspaces\": 6,"
            + " \"sample_size\": 512, \"min_documents\": 1000");
    TestIndex index =
        create(
            "fed",
            ", \"index.default_pipeline\": \"feed\", \"index.vamana.pq.threshold\": 0,"
                + " \"index.vamana.codebook.v\": \"fed\"");
    index.index(0, 600, CodebooksIT::source);
    Map<?, ?> sampling = codebook("fed");
    assertEquals(sampling.toString(), "sampling", sampling.get("state"));
    assertEquals(1000, sampling.get("min_documents"));
    assertEquals(512, sampling.get("sample_size"));
    assertDocuments(600, "fed");
    assertEquals(512, CodebookAnswers.sample(node.client(), "fed").get("sampled"));

    // Pipelines are rebuilt at every change of any of them; the sample stays.
    putPipeline("other", "\"codebook\": \"another\", \"dims\": 3");
    assertDocuments(600, "fed");

    index.index(600, COUNT, CodebooksIT::source);
    Map<?, ?> ready = CodebookAnswers.awaitState(node.client(), "fed", "ready");
    assertEquals(1, ready.get("version"));
    assertEquals(DIMS, ready.get("dims"));
    assertEquals(6, ready.get("subspaces"));
    assertEquals("l2_norm", ready.get("similarity"));
    assertEquals(512, ready.get("trained_on"));
    int documents = (Integer) ready.get("documents");
    assertTrue("documents " + documents, documents >= 1000 && documents <= COUNT);
    assertEquals("ingest pipelines", ready.get("trained_from"));
    // the sample is given back
    while (CodebookAnswers.sample(node.client(), "fed") != null) {
      Thread.sleep(10);
    }
    double error = ((Number) ready.get("quantization_error")).doubleValue();
    // The components' variance is 5.5, and four of them share one of 256 centroids.
    assertTrue("error " + error, error > 0 && error < DIMS * 5.5 / 2);

    index.forceMerge();
    index.assertSegmentsInOurFormat(true);
    assertEquals(List.of("fed 1"), codebooksOfSegments("fed"));
    float[] query = TestVectors.random(1, DIMS, 92).vector(0);
    Map<Integer, Double> scores = VECTORS.scores(query, Similarity.L2_NORM, doc -> true);
    assertTrue(Answers.recall(scores, 10, index.knn("v", query, 10, 200)) >= 0.9);

    assertRefused(409, "[fed]", "DELETE", "/_vamana/codebooks/fed", null);

    beginSample("lost");
    node = CLUSTER.restartLast();
    assertSampleBeginsAgain("lost");
    Map<?, ?> after = codebook("fed");
    assertEquals("ready", after.get("state"));
    assertEquals(ready.get("trained_at"), after.get("trained_at"));
    index = new TestIndex(node.client(), "fed");
    assertTrue(Answers.recall(scores, 10, index.knn("v", query, 10, 200)) >= 0.9);
    assertEquals(200, send("DELETE", "/_vamana/codebooks/fed?force=true", null).status());
    assertUnseen("fed");
    assertTrue(Answers.recall(scores, 10, index.knn("v", query, 10, 200)) >= 0.9);
  }

  /** A pipeline that has seen too few documents for a codebook. */
  private void beginSample(String name) throws IOException {
    putPipeline(name, "\"codebook\": \"" + name + "\", \"dims\": 24, \"sample_size\": 256");
    TestIndex index = create(name, ", \"index.default_pipeline\": \"" + name + "\"");
    index.index(0, 100, CodebooksIT::source);
    assertDocuments(100, name);
    assertEquals(1024, codebook(name).get("min_documents"));
  }

  private void assertSampleBeginsAgain(String name) throws IOException {
    assertUnseen(name);
    new TestIndex(node.client(), name).index(100, 130, CodebooksIT::source);
    assertDocuments(30, name);
    // Without its pipeline a sample is given up.
    node.client().put("/" + name + "/_settings", "{\"index.default_pipeline\": null}");
    node.client().delete("/_ingest/pipeline/" + name);
    assertRefused(404, "[" + name + "]", "GET", "/_vamana/codebooks/" + name, null);
  }

  @Test
  public void testWhatIsNoVectorPassesAndIsCounted() throws Exception {
    putPipeline("odd", "\"codebook\": \"odd\", \"dims\": 2, \"similarity\": \"cosine\"");
    String lines =
        """
        {"index": {"_id": "1"}}
        {"v": [3.0, 4.0]}
        {"index": {"_id": "2"}}
        {"v": "P4AAAEAAAAA="}
        {"index": {"_id": "3"}}
        {"other": 1}
        {"index": {"_id": "4"}}
        {"v": [1.0, 2.0, 3.0]}
        {"index": {"_id": "5"}}
        {"v": [0, 0]}
        {"index": {"_id": "6"}}
        {"v": ["a", "b"]}
        {"index": {"_id": "7"}}
        {"v": "not a vector"}
        {"index": {"_id": "8"}}
        {"v": {"x": 1}}
        {"index": {"_id": "9"}}
        {"v": null}
        """;
    node.client()
        .put(
            "/odd",
            "{\"mappings\": {\"properties\": {\"v\": {\"enabled\": false,"
                + " \"type\": \"object\"}}}}");
    node.client().bulk("/odd/_bulk?refresh=true&pipeline=odd", lines);
    Map<String, Object> sources = node.client().get("/odd/_search?size=20&sort=_doc");
    assertEquals(9, ((List<?>) NodeClient.at(sources, "hits", "hits")).size());
    Map<String, Object> kept = node.client().get("/odd/_doc/1");
    assertEquals(List.of(3.0, 4.0), NodeClient.at(kept, "_source", "v"));
    assertDocuments(2, "odd");
    assertEquals(7, CodebookAnswers.sample(node.client(), "odd").get("rejected"));
    assertEquals(65_536, codebook("odd").get("sample_size"));
    assertEquals(262_144, codebook("odd").get("min_documents"));
    assertEquals(200, send("DELETE", "/_vamana/codebooks/odd", null).status());
    assertUnseen("odd");
  }

  @Test
  public void testFromAnIndex() throws Exception {
    TestIndex index = create("whole", ", \"index.number_of_shards\": 2");
    index.index(0, COUNT / 2, CodebooksIT::source);
    index.index(COUNT / 2, COUNT, CodebooksIT::source);
    String body =
        "{\"index\": \"whole\", \"field\": \"v\", \"sample_size\": 300, \"subspaces\": 8}";
    Map<String, Object> trained = node.client().post("/_vamana/codebooks/whole/_train", body);
    Map<?, ?> first = (Map<?, ?>) NodeClient.at(trained, "codebooks", 0);
    assertEquals("ready", first.get("state"));
    assertEquals(1, first.get("version"));
    assertEquals(300, first.get("trained_on"));
    assertEquals(COUNT, first.get("documents"));
    assertEquals("index [whole] field [v]", first.get("trained_from"));
    Map<String, Object> begun =
        node.client()
            .post(
                "/_vamana/codebooks/whole/_train?wait_for_completion=false",
                "{\"index\": \"whole\", \"field\": \"v\","
                    + " \"query\": {\"ids\": {\"values\": "
                    + ids(400)
                    + "}}}");
    Map<String, Object> result =
        node.client().get("/_tasks/" + begun.get("task") + "?wait_for_completion=true");
    Map<?, ?> second = (Map<?, ?>) NodeClient.at(result, "response", "codebooks", 0);
    assertEquals(2, second.get("version"));
    assertEquals(second, codebook("whole"));
    assertEquals(400, second.get("trained_on"));
    assertEquals(6, second.get("subspaces"));

    String path = "/_vamana/codebooks/whole/_train";
    assertRefused(400, "256", "POST", path, body.replace("300", "255"));
    assertRefused(400, "[field] is missing", "POST", path, "{\"index\": \"whole\"}");
    assertRefused(400, "field [w] of index [whole]", "POST", path, body.replace("\"v\"", "\"w\""));
    assertRefused(404, "absent", "POST", path, body.replace("\"whole\"", "\"absent\""));
    assertRefused(400, "unknown field [indx]", "POST", path, "{\"indx\": \"whole\"}");
    assertRefused(400, "START_OBJECT", "POST", path, "[1]");
    assertRefused(
        400,
        "[subspaces] must be between [0] and [24], got [25]",
        "POST",
        path,
        body.replace("8}", "25}"));
    assertRefused(
        400,
        "at least 256 vectors",
        "POST",
        "/_vamana/codebooks/few/_train",
        body.replace("}", ", \"query\": {\"ids\": {\"values\": " + ids(100) + "}}}"));
    assertEquals("failed", codebook("few").get("state"));
    assertEquals(2, codebook("whole").get("version"));
  }

  /** Vectors are read from where they are indexed, so documents need no {@code _source}. */
  @Test
  public void testFromAnIndexWithoutSources() throws Exception {
    node.client()
        .put(
            "/bare",
            Json.of(
                """
            {"settings": {"index.number_of_replicas": 0},
             "mappings": {"_source": {"enabled": false}, "properties": {%s}}}
            """,
                TestIndex.denseVector("v", "float", DIMS, "cosine", "hnsw")));
    TestIndex index = new TestIndex(node.client(), "bare");
    index.awaitHealth("green");
    index.index(0, 300, CodebooksIT::source);
    Map<String, Object> trained =
        node.client()
            .post("/_vamana/codebooks/bare/_train", "{\"index\": \"bare\", \"field\": \"v\"}");
    Map<?, ?> bare = (Map<?, ?>) NodeClient.at(trained, "codebooks", 0);
    assertEquals(300, bare.get("trained_on"));
    // Vectors have unit length, and their 300 four-component parts 256 centroids.
    double error = ((Number) bare.get("quantization_error")).doubleValue();
    assertTrue("error " + error, error > 0 && error < 0.2);
  }

  private static String ids(int count) {
    StringBuilder ids = new StringBuilder("[\"0\"");
    for (int i = 1; i < count; i++) {
      ids.append(", \"").append(i).append('"');
    }
    return ids.append(']').toString();
  }

  @Test
  public void testImport() throws Exception {
    TestIndex index = create("model", "");
    index.index(0, COUNT, CodebooksIT::source);
    node.client()
        .post("/_vamana/codebooks/model/_train", "{\"index\": \"model\", \"field\": \"v\"}");
    Map<?, ?> exported = CodebookAnswers.only(node.client(), "model?data=true");
    String data = (String) exported.get("data");
    node.client().put("/_vamana/codebooks/copy", "{\"data\": \"" + data + "\"}");
    Map<?, ?> copy = CodebookAnswers.only(node.client(), "copy?data=true");
    assertEquals("ready", copy.get("state"));
    assertEquals(1, copy.get("version"));
    assertEquals(exported.get("quantization_error"), copy.get("quantization_error"));
    node.client().put("/_vamana/codebooks/copy", "{\"data\": \"" + data + "\"}");
    assertEquals(2, codebook("copy").get("version"));

    StringBuilder rows = new StringBuilder("[0.5]");
    for (int i = 1; i < 256; i++) {
      rows.append(", [").append(i).append(']');
    }
    String arrays =
        Json.of(
            """
        {"dims": 1, "subspaces": 1, "similarity": "l2_norm", "centroids": [[%s]]}
        """,
            rows);
    node.client().put("/_vamana/codebooks/array", arrays);
    assertEquals("import", codebook("array").get("trained_from"));
    String path = "/_vamana/codebooks/array";
    assertRefused(400, "finite", "PUT", path, arrays.replace("[0.5]", "[1e60]"));
    assertRefused(400, "numbers", "PUT", path, arrays.replace("[0.5]", "[\"a\"]"));
    assertRefused(400, "256 elements", "PUT", path, arrays.replace("[0.5], ", ""));
    assertRefused(400, "similarity", "PUT", path, arrays.replace("l2_norm", "l3"));
    assertRefused(400, "dims", "PUT", path, arrays.replace("\"dims\": 1", "\"dims\": 9999"));
    assertRefused(400, "exactly one", "PUT", path, "{}");
    assertRefused(400, "[data]", "PUT", path, "{\"data\": \"?\"}");
    assertRefused(400, "no other key", "PUT", path, "{\"dims\": 1, \"data\": \"" + data + "\"}");
    assertEquals(400, send("PUT", path, "{\"data\": \"" + data.substring(0, 400) + "\"}").status());
    assertRefused(400, "lower case", "PUT", "/_vamana/codebooks/Upper", arrays);
    assertEquals(1, codebook("array").get("version"));
  }

  @Test
  public void testWrongOptions() throws Exception {
    putPipeline("one", "\"codebook\": \"two-fields\", \"dims\": 8, \"sample_size\": 300");
    // Another field with the same options is fine.
    node.client()
        .put(
            "/_ingest/pipeline/two",
            "{\"processors\": [{\"vamana_train\": {\"field\": \"a.b\", \"dims\": 8,"
                + " \"sample_size\": 300, \"codebook\": \"two-fields\"}}]}");
    String options = "{\"processors\": [{\"vamana_train\": {\"field\": \"v\", %s}}]}";
    for (String[] wrong :
        new String[][] {
          {"[dims]", "\"codebook\": \"x\""},
          {"[codebook]", "\"dims\": 9"},
          {
            "[dims] must be between [1] and [4096], got [4097]",
            "\"codebook\": \"x\", \"dims\": 4097"
          },
          {
            "[sample_size] must be between [256] and [1048576]",
            "\"codebook\": \"x\", \"dims\": 4, \"sample_size\": 255"
          },
          {
            "[min_documents] must be between [256] and",
            "\"codebook\": \"x\", \"dims\": 4, \"min_documents\": 0"
          },
          {
            "[subspaces] must be between [0] and [4]",
            "\"codebook\": \"x\", \"dims\": 4, \"subspaces\": 5"
          },
          {
            "[similarity] must be one of [l2_norm",
            "\"codebook\": \"x\", \"dims\": 4, \"similarity\": \"l1\""
          },
          {"invalid codebook name", "\"codebook\": \"_x\", \"dims\": 4"},
          {"[size]", "\"codebook\": \"x\", \"dims\": 4, \"size\": 5"},
        }) {
      assertRefused(400, wrong[0], "PUT", "/_ingest/pipeline/bad", Json.of(options, wrong[1]));
    }
    // a pipeline with other options is stored, and its documents are counted only
    putPipeline("zero", "\"codebook\": \"two-fields\", \"dims\": 9");
    node.client().put("/zero/_doc/1?pipeline=zero", "{\"v\": [1]}");
    assertDocuments(0, "two-fields");
    Map<?, ?> sample = CodebookAnswers.sample(node.client(), "two-fields");
    assertEquals(1, sample.get("rejected"));
    node.client().delete("/_ingest/pipeline/zero");
    node.client().delete("/_ingest/pipeline/two");
    putPipeline("one", "\"codebook\": \"two-fields\", \"dims\": 9");
    node.client().delete("/_ingest/pipeline/one");
    assertRefused(404, "[none]", "GET", "/_vamana/codebooks/none", null);
    assertRefused(404, "[none]", "DELETE", "/_vamana/codebooks/none", null);
    assertRefused(400, "[data]", "GET", "/_vamana/codebooks?data=true", null);
    assertEquals(200, send("GET", "/_vamana/codebooks/none*", null).status());
  }
}
