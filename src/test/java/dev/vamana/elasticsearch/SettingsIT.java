package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** Index settings, mappings, index modes and codecs of an opted-in index, over HTTP. */
public class SettingsIT {
  private static final int DIMS = 64;
  private static final int COUNT = 200;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 11);

  private static final String CODEBOOK = "\"index.vamana.codebook.v\": \"none\"";

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static RunningNode node;

  @BeforeClass
  public static void startNode() throws IOException {
    node = CLUSTER.first();
  }

  @Test
  public void testSettingsChangeWhileClosedOnly() throws IOException {
    TestIndex index = TestIndex.create(node.client(), "closing", "", hnsw());
    String settings = "\"index.vamana.enabled\": true, \"index.vamana.max_degree\": 8";
    NodeClient.Response response =
        node.client().send("PUT", "/closing/_settings", "{" + settings + "}", "application/json");
    assertEquals(response.body(), 400, response.status());
    assertTrue(response.body(), response.body().contains("index.vamana.enabled"));
    index.close();
    index.set(settings);
    index.open();
    Map<String, Object> now = node.client().get("/closing/_settings?flat_settings=true");
    assertEquals("8", NodeClient.at(now, "closing", "settings", "index.vamana.max_degree"));
  }

  private static void assertAnswer(int status, String path, String body, String... named)
      throws IOException {
    NodeClient.Response response = node.client().send("PUT", path, body, "application/json");
    assertEquals(response.body(), status, response.status());
    for (String name : named) {
      assertTrue("no " + name + " in " + response.body(), response.body().contains(name));
    }
    if (status == 400) {
      Object type = NodeClient.at(response.json(), "error", "type");
      assertEquals("illegal_argument_exception", type);
    }
  }

  @Test
  public void testSettingsWithoutEffectAreLogged() throws IOException {
    assertAnswer(200, "/alone", "{\"settings\": {\"index.vamana.max_degree\": 8}}");
    String sentence =
        "[alone] setting [index.vamana.max_degree] is [8], but has no effect without"
            + " [index.vamana.enabled]";
    assertTrue(node.log(), node.log().contains(sentence));
    node.client().delete("/alone");
  }

  @Test
  public void testFieldsThatAreRescoredAreWarnedOf() throws IOException {
    String body =
        "{\"settings\": {%s}, \"mappings\": {\"properties\": {\"v\": {\"type\":"
            + " \"dense_vector\", \"dims\": 384}}}}";
    NodeClient.Response response =
        node.client().send("PUT", "/rescored", Json.of(body, TestIndex.VAMANA), "application/json");
    assertEquals(response.body(), 200, response.status());
    assertEquals(1, response.warnings().size());
    String warning = response.warnings().get(0);
    assertTrue(warning, warning.contains("field [v] is of type [bbq_hnsw]"));
    Object type =
        NodeClient.at(
            node.client().get("/rescored/_mapping"),
            "rescored",
            "mappings",
            "properties",
            "v",
            "index_options",
            "type");
    assertEquals("bbq_hnsw", type);
    response = node.client().send("PUT", "/stock", Json.of(body, ""), "application/json");
    assertEquals(List.of(), response.warnings());
    node.client().delete("/rescored,stock");
  }

  @Test
  public void testCodebooksOfOtherDimensionsAreRefused() throws IOException {
    List<List<Float>> rows = new ArrayList<>();
    for (int i = 0; i < 256; i++) {
      rows.add(Collections.nCopies(2 * DIMS, (float) i));
    }
    node.client()
        .put(
            "/_vamana/codebooks/wide",
            Json.of(
                """
                {"dims": %d, "subspaces": 1, "similarity": "l2_norm", "centroids": [%s]}
                """,
                2 * DIMS, rows));
    String body =
        Json.of(
            """
            {"settings": {%s, "index.vamana.codebook.v": "wide"}, "mappings": {"properties": {%s}}}
            """,
            TestIndex.VAMANA, hnsw());
    assertAnswer(
        400,
        "/narrow",
        body,
        "Invalid value [wide] for setting [index.vamana.codebook.v]",
        "dims [" + DIMS + "], codebook [wide] version [1] has [" + 2 * DIMS + "]");
    node.client().delete("/_vamana/codebooks/wide");
  }

  /** No codebook of that name exists: segments train their own, and the log reports it once. */
  @Test
  public void testCodebookThatIsNotReady() throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            "coded",
            TestIndex.VAMANA + ", \"index.vamana.pq.threshold\": 10, " + CODEBOOK,
            hnsw());
    index.index(0, COUNT / 2, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    index.index(COUNT / 2, COUNT, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    index.assertSegmentsInOurFormat(true);
    index.forceMerge();
    Answers.assertBest(
        VECTORS.scores(VECTORS.vector(3), Similarity.L2_NORM, doc -> true),
        10,
        index.knn("v", VECTORS.vector(3), 10, 50));
    String notice =
        "[coded] segments do not use a shared codebook for field [v] although"
            + " [index.vamana.codebook.v] is [none]: that codebook is not ready on this node";
    assertEquals(notice, 1, node.log().split(Pattern.quote(notice), -1).length - 1);
    node.client()
        .send("PUT", "/coded/_settings", "{\"index.blocks.write\": true}", "application/json");
    NodeClient.Response response =
        node.client()
            .send(
                "POST",
                "/coded/_split/parted",
                "{\"settings\": {\"index.number_of_shards\": 2}}",
                "application/json");
    assertEquals(response.body(), 200, response.status());
    Map<String, Object> settings = node.client().get("/parted/_settings?flat_settings=true");
    assertEquals("none", NodeClient.at(settings, "parted", "settings", "index.vamana.codebook.v"));
    index.close();
    index.set("\"index.vamana.codebook.v\": null, \"index.vamana.codebook.other.field\": \"x\"");
    index.open();
    settings = node.client().get("/coded/_settings?flat_settings=true");
    assertEquals(
        "x", NodeClient.at(settings, "coded", "settings", "index.vamana.codebook.other.field"));
    node.client().delete("/parted");
    node.client().delete("/coded");
  }

  private static String hnsw() {
    return TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw");
  }

  /** Fields in the stock format answer as they do in an index that is not opted in. */
  @Test
  public void testFieldsThatKeepTheStockFormat() throws IOException {
    StringBuilder properties = new StringBuilder();
    List<String> flats = List.of("flat", "int8_flat", "int4_flat", "bbq_flat");
    for (String type : flats) {
      properties.append(TestIndex.denseVector(type, "float", DIMS, "l2_norm", type)).append(", ");
    }
    properties.append(TestIndex.denseVector("bit", "bit", DIMS, "l2_norm", "hnsw")).append(", ");
    properties.append(hnsw());
    TestIndex stock = TestIndex.create(node.client(), "unwrapped", "", properties.toString());
    TestIndex opted =
        TestIndex.create(node.client(), "wrapped", TestIndex.VAMANA, properties.toString());
    for (TestIndex index : List.of(stock, opted)) {
      index.index(0, COUNT / 2, doc -> everyField(flats, doc));
      index.index(COUNT / 2, COUNT, doc -> everyField(flats, doc));
      index.assertSegmentsInOurFormat(false);
      index.forceMerge();
      index.assertSegmentsInOurFormat(false);
    }
    float[] query = TestVectors.random(1, DIMS, 12).vector(0);
    for (String type : flats) {
      assertEquals(
          Answers.hits(stock.knn(type, query, 10, 50)).toString(),
          Answers.hits(opted.knn(type, query, 10, 50)).toString().replace("wrapped", "unwrapped"));
    }
    Answers.assertBest(
        VECTORS.scores(query, Similarity.L2_NORM, doc -> true),
        10,
        opted.knn("flat", query, 10, 50));
    float[] bits = bits(3);
    Map<Integer, Double> hamming = new HashMap<>();
    for (int doc = 0; doc < COUNT; doc++) {
      int same = 0;
      for (int i = 0; i < bits.length; i++) {
        same += 8 - Integer.bitCount(((int) bits[i] ^ (int) bits(doc)[i]) & 0xff);
      }
      hamming.put(doc, same / (double) DIMS);
    }
    Answers.assertBest(hamming, 10, opted.knn("bit", bits, 10, COUNT));
    for (String field : List.of("flat", "int8_flat", "int4_flat", "bbq_flat", "bit")) {
      String notice = "[wrapped] field [" + field + "] keeps the stock vector format";
      assertEquals(notice, 1, node.log().split(Pattern.quote(notice), -1).length - 1);
    }
  }

  private static String everyField(List<String> types, int doc) {
    StringBuilder source = new StringBuilder("{");
    for (String type : types) {
      source.append('"').append(type).append("\": ").append(VECTORS.json(doc)).append(", ");
    }
    return source.append("\"bit\": ").append(TestVectors.json(bits(doc))).append('}').toString();
  }

  private static float[] bits(int doc) {
    float[] bytes = new float[DIMS / 8];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (VECTORS.vector(doc)[i] * 8 * 31);
    }
    return bytes;
  }

  /** This node has no licence for {@code bbq_disk}, and must say so as it does without us. */
  @Test
  public void testBbqDiskIsLeftToTheServer() throws IOException {
    String mapping =
        TestIndex.denseVector("v", "float", DIMS, "l2_norm", "bbq_disk")
            + ", "
            + TestIndex.denseVector("w", "float", DIMS, "l2_norm", "hnsw");
    String answers = "";
    for (String settings : List.of("", TestIndex.VAMANA)) {
      TestIndex index = TestIndex.create(node.client(), "disk", settings, mapping);
      NodeClient.Response response =
          node.client()
              .send(
                  "PUT",
                  "/disk/_doc/0?timeout=5s",
                  "{\"v\": " + VECTORS.json(0) + "}",
                  "application/json");
      answers += response.status() + " ";
      response = node.client().send("POST", "/disk/_refresh", null, "application/json");
      answers += response.status() + ";";
      node.client().delete("/" + index.name());
    }
    assertEquals(answers, answers.split(";")[0], answers.split(";")[1]);
    assertTrue(node.log().contains("[disk] field [v] keeps the stock vector format"));
  }

  @Test
  public void testIndexModes() throws IOException {
    assertNearest(
        "logs",
        "\"index.mode\": \"logsdb\"",
        "\"@timestamp\": {\"type\": \"date\"}, \"host\": {\"type\": \"keyword\"}");
    assertNearest(
        "series",
        """
        "index.mode": "time_series", "index.routing_path": ["host"],
        "index.time_series.start_time": "2026-01-01T00:00:00Z",
        "index.time_series.end_time": "2026-12-31T00:00:00Z"\
        """,
        """
        "@timestamp": {"type": "date"},
        "host": {"type": "keyword", "time_series_dimension": true}\
        """);
    assertNearest("vectordb", "\"index.mode\": \"vectordb_document\"", "");
  }

  @Test
  public void testCodecs() throws IOException {
    for (String codec : List.of("default", "legacy_default", "legacy_best_compression")) {
      assertNearest("codec-" + codec, "\"index.codec\": \"" + codec + "\"", "");
    }
  }

  @Test
  public void testBestCompression() throws IOException {
    assumeTrue("libzstd is not installed", node.home().hasZstd());
    assertNearest("codec-best", "\"index.codec\": \"best_compression\"", "");
  }

  private static void assertNearest(String name, String settings, String properties)
      throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            TestIndex.VAMANA + ", " + settings,
            hnsw()
                + ", \"number\": {\"type\": \"integer\"}"
                + (properties.isEmpty() ? "" : ", " + properties));
    StringBuilder lines = new StringBuilder();
    for (int doc = 0; doc < COUNT; doc++) {
      lines.append(
          Json.of(
              """
              {"create": {}}
              {"@timestamp": "2026-06-01T00:%02d:%02dZ", "host": "h%d", "number": %d, "v": %s}
              """,
              doc / 60, doc % 60, doc % 3, doc, VECTORS.json(doc)));
    }
    node.client().bulk("/" + name + "/_bulk?refresh=true", lines.toString());
    index.assertSegmentsInOurFormat(true);
    index.forceMerge();
    index.assertSegmentsInOurFormat(true);
    for (int doc = 0; doc < COUNT; doc += 20) {
      Map<String, Object> answer =
          index.search(
              Json.of(
                  """
              {"knn": {"field": "v", "query_vector": %s, "k": 3, "num_candidates": 100},
               "_source": false, "fields": ["number"]}
              """,
                  VECTORS.json(doc)));
      assertEquals(doc, NodeClient.at(answer, "hits", "hits", 0, "fields", "number", 0));
      assertEquals(3, Answers.hits(answer).size());
    }
    node.client().delete("/" + name);
  }
}
