package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** What index settings, mappings, index modes and codecs make of an opted-in index, over HTTP. */
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
  public void testBadValuesAreRejected() throws IOException {
    assertRejected("index.vamana.max_degree", "3");
    assertRejected("index.vamana.max_degree", "many");
    assertRejected("index.vamana.beam_width", "0");
    // The default max degree is 64.
    assertRejected("index.vamana.beam_width", "63");
    assertRejected("index.vamana.alpha", "0.5");
    assertRejected("index.vamana.pq.subspaces", "-1");
    assertRejected("index.vamana.pq.threshold", "-1");
    assertRejected("index.vamana.graph_threshold", "-2");
    assertRejected("index.vamana.codebook.v", "Upper");
    assertRejected("index.vamana.no_such_setting", "1");
  }

  private static void assertRejected(String setting, String value) throws IOException {
    String body =
        Json.of("{\"settings\": {\"index.vamana.enabled\": true, \"%s\": \"%s\"}}", setting, value);
    NodeClient.Response response = node.client().send("PUT", "/rejected", body, "application/json");
    assertEquals(response.body(), 400, response.status());
    assertTrue(response.body(), response.body().contains("[" + setting + "]"));
    if (!setting.contains("no_such")) {
      assertTrue(response.body(), response.body().contains("[" + value + "]"));
    }
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
  public void testSettingsThatNeedEnabled() throws IOException {
    String degree = "{\"settings\": {%s\"index.vamana.max_degree\": 8}}";
    String[] remedy = {"[index.vamana.max_degree] is [8]", "[index.vamana.enabled]", "[true]"};
    assertAnswer(400, "/alone", Json.of(degree, ""), remedy);
    assertAnswer(
        400, "/alone", "{\"settings\": {" + CODEBOOK + "}}", "[index.vamana.codebook.v] is [none]");
    assertAnswer(200, "/alone", Json.of(degree, "\"index.vamana.enabled\": false, "));
    TestIndex closed = TestIndex.create(node.client(), "alone-closed", "", hnsw());
    closed.close();
    String path = "/alone-closed/_settings";
    assertAnswer(400, path, "{\"index.vamana.max_degree\": 8}", remedy);
    assertAnswer(400, path, "{\"vamana.max_degree\": 8}", remedy);
    assertAnswer(200, path, "{\"index.vamana.enabled\": true}");
    assertAnswer(200, path, "{\"index.vamana.max_degree\": 8}");
    // an index that has the settings already opens, is copied, restored and changed
    assertAnswer(200, path, "{\"index.vamana.enabled\": null}");
    assertAnswer(200, path, "{\"index.number_of_replicas\": 0}");
    closed.open();
    closed.set("\"index.blocks.write\": true");
    node.client().post("/alone-closed/_clone/alone-cloned", "{}");
    new TestIndex(node.client(), "alone-cloned").awaitHealth("yellow");
    node.client()
        .put("/_snapshot/alone", "{\"type\": \"fs\", \"settings\": {\"location\": \"alone\"}}");
    node.client()
        .put(
            "/_snapshot/alone/all?wait_for_completion=true",
            "{\"indices\": \"alone-closed\", \"include_global_state\": false}");
    node.client()
        .post(
            "/_snapshot/alone/all/_restore?wait_for_completion=true",
            "{\"rename_pattern\": \"(.+)\", \"rename_replacement\": \"$1-restored\"}");
    TestIndex restored = new TestIndex(node.client(), "alone-closed-restored");
    restored.awaitHealth("yellow");
    Map<String, Object> settings =
        node.client().get("/alone-closed-restored/_settings?flat_settings=true");
    assertEquals(
        "8",
        NodeClient.at(settings, "alone-closed-restored", "settings", "index.vamana.max_degree"));
    node.client().delete("/_snapshot/alone");
  }

  /** One template serves indices that opt in and others that do not. */
  @Test
  public void testSettingsOfTemplates() throws IOException {
    String flat = TestIndex.denseVector("v", "float", DIMS, "l2_norm", "flat");
    assertAnswer(
        200,
        "/_index_template/degrees",
        "{\"index_patterns\": [\"degrees-*\"],"
            + " \"template\": {\"settings\": {\"index.vamana.max_degree\": 8}}}");
    assertAnswer(200, "/degrees-stock", "{}");
    assertAnswer(200, "/degrees-ours", "{\"settings\": {\"index.vamana.enabled\": true}}");
    assertAnswer(
        400,
        "/degrees-other",
        "{\"settings\": {\"index.vamana.alpha\": 1.5}}",
        "[index.vamana.alpha] is [1.5]");
    assertAnswer(
        200,
        "/_index_template/everyone",
        "{\"index_patterns\": [\"everyone-*\"],"
            + " \"template\": {\"settings\": {\"index.vamana.enabled\": true}}}");
    assertAnswer(200, "/everyone-1", "{\"mappings\": {\"properties\": {" + flat + "}}}");
    node.client().delete("/_index_template/degrees,everyone");
  }

  @Test
  public void testEnabledWithoutAFieldForIt() throws IOException {
    String flat = TestIndex.denseVector("f", "float", DIMS, "l2_norm", "int8_flat");
    String bits = TestIndex.denseVector("b", "bit", DIMS, "l2_norm", "hnsw");
    String body =
        "{\"settings\": {\"index.vamana.enabled\": true}, \"mappings\": {\"properties\": {%s}}}";
    assertAnswer(
        400,
        "/useless",
        Json.of(body, flat + ", " + bits),
        "[index.vamana.enabled] is [true]",
        "field [f]",
        "[int8_flat]",
        "field [b]",
        "[hnsw]");
    assertAnswer(200, "/useful", Json.of(body, flat + ", " + hnsw()));
    assertAnswer(200, "/useful-later", Json.of(body, ""));
    for (String name : List.of("flat-a", "flat-b")) {
      TestIndex.create(node.client(), name, "", flat).close();
    }
    String enabled = "{\"index.vamana.enabled\": true}";
    assertAnswer(400, "/flat-a/_settings", enabled, "[index.vamana.enabled]", "field [f]");
    assertAnswer(200, "/flat-*/_settings", enabled);
  }

  @Test
  public void testCodebooksAreCheckedAgainstTheMapping() throws IOException {
    String bytes = TestIndex.denseVector("v", "byte", DIMS, "l2_norm", "hnsw");
    String template =
        Json.of(
            """
            {"index_patterns": ["codes-*"], "template": {"settings": {%s}, "mappings": {"properties": {%s}}}}
            """,
            CODEBOOK, bytes);
    String body = "{\"settings\": {" + CODEBOOK + "}, \"mappings\": {\"properties\": {%s}}}";
    List<NodeClient.Response> refused =
        List.of(
            node.client().send("PUT", "/refused", Json.of(body, bytes), "application/json"),
            node.client()
                .send(
                    "PUT",
                    "/refused",
                    Json.of(body, "\"v\": {\"type\": \"keyword\"}"),
                    "application/json"),
            node.client().send("PUT", "/_index_template/codes", template, "application/json"));
    for (NodeClient.Response answer : refused) {
      assertEquals(answer.body(), 400, answer.status());
      String start = "Invalid value [none] for setting [index.vamana.codebook.v]: that field ";
      assertTrue(answer.body(), answer.body().contains(start));
    }
  }

  @Test
  public void testCodebooksOfClosedIndicesAreCheckedToo() throws IOException {
    String properties =
        TestIndex.denseVector("b", "byte", DIMS, "l2_norm", "hnsw")
            + ", \"t\": {\"type\": \"text\"}, "
            + hnsw();
    TestIndex index = TestIndex.create(node.client(), "recoded", TestIndex.VAMANA, properties);
    index.close();
    for (String[] refused :
        new String[][] {
          {"b", "that field has element_type [byte], expected [float] or [bfloat16]"},
          {"t", "that field is of type [text], expected [dense_vector]"},
        }) {
      for (String key : new String[] {"index.vamana.codebook.", "vamana.codebook."}) {
        String body = "{\"" + key + refused[0] + "\": \"none\"}";
        NodeClient.Response response =
            node.client().send("PUT", "/reco*/_settings", body, "application/json");
        assertEquals(response.body(), 400, response.status());
        String setting = "[none] for setting [index.vamana.codebook." + refused[0] + "]: ";
        String reason = (String) NodeClient.at(response.json(), "error", "reason");
        assertEquals("Invalid value " + setting + refused[1], reason);
        assertEquals("illegal_argument_exception", NodeClient.at(response.json(), "error", "type"));
      }
    }
    index.set(CODEBOOK);
    index.set("\"index.vamana.codebook.v\": null");
    String wrong = "{\"index.vamana.codebook.v\": \"Upper\"}";
    assertEquals(
        400, node.client().send("PUT", "/recoded/_settings", wrong, "application/json").status());
    assertEquals(
        404,
        node.client()
            .send("PUT", "/absent/_settings", "{" + CODEBOOK + "}", "application/json")
            .status());
    index.open();
    node.client().delete("/recoded");
  }

  /** No codebook of that name exists: segments train their own, and the log says so once. */
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

  /** What we leave alone has to answer as it does on an index that is not opted in. */
  @Test
  public void testFieldsThatKeepTheStockFormat() throws IOException {
    StringBuilder properties = new StringBuilder();
    List<String> flats = List.of("flat", "int8_flat", "int4_flat", "bbq_flat");
    for (String type : flats) {
      properties.append(TestIndex.denseVector(type, "float", DIMS, "l2_norm", type)).append(", ");
    }
    properties.append(TestIndex.denseVector("bit", "bit", DIMS, "l2_norm", "hnsw")).append(", ");
    // without it the index would be refused
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
