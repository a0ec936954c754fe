package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * Another plugin hides documents through the index's reader wrapper, as security does. None of our
 * endpoints shows one.
 */
public class HiddenDocumentsIT {
  private static final int DIMS = 12;
  private static final int COUNT = 1200;
  private static final int K = 10;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 91);

  private static NodeHome home;
  private static RunningNode node;
  private static TestIndex index;

  @BeforeClass
  public static void startNode() throws IOException {
    home = PluginNode.home("hidden");
    home.installPlugin(
        TestPluginZip.alone(
            "hiding", HidingPlugin.class, List.of("dev/vamana/elasticsearch/Hiding.*")));
    node = RunningNode.start(home, PluginNode.options());
    index = create("photos");
  }

  private static TestIndex create(String name) throws IOException {
    TestIndex created =
        TestIndex.create(
            node.client(),
            name,
            TestIndex.VAMANA
                + ", \"index.hiding\": true, \"index.number_of_shards\": 2"
                + ", \"index.vamana.pq.threshold\": 0, \"index.vamana.pq.subspaces\": 4",
            "\"hidden\": {\"type\": \"keyword\"}, \"colour\": {\"type\": \"keyword\"}, "
                + TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    created.index(0, COUNT / 2, HiddenDocumentsIT::source);
    created.index(COUNT / 2, COUNT, HiddenDocumentsIT::source);
    return created;
  }

  @AfterClass
  public static void stopNode() throws IOException {
    if (node != null) {
      node.close();
    }
    if (home != null) {
      home.delete();
    }
  }

  /** Two of three documents are hidden, so that a walk's nearest ones mostly are. */
  private static boolean hidden(int doc) {
    return doc % 3 != 0;
  }

  private static String source(int doc) {
    return Json.of(
        """
        {"v": %s, "hidden": "%s", "colour": "%s"}\
        """,
        VECTORS.json(doc), hidden(doc) ? "yes" : "no", doc % 2 == 0 ? "red" : "blue");
  }

  private static Map<Integer, Double> scores(float[] query) {
    return VECTORS.scores(query, Similarity.L2_NORM, doc -> !hidden(doc));
  }

  private static int wrapped() throws IOException {
    return (Integer) node.client().get("/_hiding").get("wrapped");
  }

  @Test
  public void testTheStandardSearch() throws IOException {
    index.assertSegmentsInOurFormat(true);
    int before = wrapped();
    for (int doc = 0; doc < 20; doc++) {
      float[] query = VECTORS.vector(doc);
      Answers.assertBest(scores(query), K, index.knn("v", query, K, COUNT));
      Map<String, Object> filtered =
          index.search(
              Json.of(
                  """
                  {"knn": {"field": "v", "query_vector": %s, "k": %d, "num_candidates": %d,
                           "filter": {"term": {"colour": "red"}}}, "size": %d}
                  """,
                  TestVectors.json(query), K, COUNT, K));
      Answers.assertBest(
          VECTORS.scores(query, Similarity.L2_NORM, d -> !hidden(d) && d % 2 == 0), K, filtered);
    }
    assertTrue(wrapped() >= before + 40);
    Map<String, Object> all =
        index.search("{\"size\": 1000, \"query\": {\"term\": {\"hidden\": \"yes\"}}}");
    assertEquals(List.of(), Answers.hits(all));
  }

  @Test
  public void testTheBatchedSearch() throws IOException {
    int queries = 40;
    int before = wrapped();
    Map<String, Object> answer = batch(queries, "\"_source\": true");
    List<?> responses = (List<?>) answer.get("responses");
    assertEquals(queries, responses.size());
    for (int i = 0; i < queries; i++) {
      Map<String, Object> asSearch = new HashMap<>(answer);
      asSearch.putAll(asObject(responses.get(i)));
      Answers.assertBest(scores(VECTORS.vector(i)), K, asSearch);
      for (Object hit : Answers.hits(asSearch)) {
        assertEquals("no", NodeClient.at(hit, "_source", "hidden"));
      }
    }
    assertTrue("shards were searched past the wrapper", wrapped() > before);
    Map<String, Object> filtered = batch(queries, "\"filter\": {\"term\": {\"hidden\": \"yes\"}}");
    for (Object response : (List<?>) filtered.get("responses")) {
      assertEquals(List.of(), NodeClient.at(response, "hits", "hits"));
    }
  }

  @Test
  public void testTheBatchedSearchInColumns() throws IOException {
    int queries = 40;
    int before = wrapped();
    Map<String, Object> answer = batch(queries, "\"format\": \"columns\"");
    for (int i = 0; i < queries; i++) {
      Map<Integer, Double> scores = scores(VECTORS.vector(i));
      List<?> ids = (List<?>) NodeClient.at(answer, "ids", i);
      assertEquals(
          new HashSet<>(TestVectors.best(scores, K).keySet()),
          ids.stream().map(id -> Integer.valueOf((String) id)).collect(Collectors.toSet()));
    }
    assertTrue("shards were searched past the wrapper", wrapped() > before);
    Map<String, Object> filtered =
        batch(3, "\"format\": \"columns\", \"filter\": {\"term\": {\"hidden\": \"yes\"}}");
    assertEquals(List.of(List.of(), List.of(), List.of()), filtered.get("ids"));
  }

  private static Map<String, Object> batch(int queries, String more) throws IOException {
    String vectors =
        IntStream.range(0, queries).mapToObj(VECTORS::json).collect(Collectors.joining(","));
    return node.client()
        .post(
            "/photos/_vamana/search",
            Json.of(
                """
                {"field": "v", "query_vectors": [%s], "k": %d, "num_candidates": %d, %s}
                """,
                vectors, K, COUNT, more));
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> asObject(Object json) {
    return (Map<String, Object>) json;
  }

  @Test
  public void testNeighborsAreVisibleDocuments() throws IOException {
    int before = wrapped();
    for (String method : List.of("\"num_candidates\": " + COUNT, "\"method\": \"exact\"")) {
      node.client()
          .post(
              "/photos/_vamana/neighbors?refresh=true",
              Json.of(
                  """
                  {"field": "v", "k": %d, "dest": {"index": "photos-neighbors"}, %s}
                  """,
                  K, method));
      Map<String, Object> written =
          node.client().post("/photos-neighbors/_search", "{\"size\": " + COUNT + "}");
      assertEquals(COUNT / 3, Answers.hits(written).size());
      for (Object hit : Answers.hits(written)) {
        int doc = Answers.doc(hit);
        assertFalse("neighbours of a hidden document", hidden(doc));
        Map<Integer, Double> scores =
            VECTORS.scores(VECTORS.vector(doc), Similarity.L2_NORM, d -> !hidden(d) && d != doc);
        List<?> ids = (List<?>) NodeClient.at(hit, "_source", "neighbors", "ids");
        assertEquals(K, ids.size());
        assertTrue(
            scores
                .keySet()
                .containsAll(ids.stream().map(id -> Integer.valueOf((String) id)).toList()));
      }
    }
    assertTrue("shards were searched past the wrapper", wrapped() > before);
    node.client().delete("/photos-neighbors");
  }

  @Test
  public void testTrainingSeesVisibleDocumentsOnly() throws IOException {
    int before = wrapped();
    node.client()
        .post(
            "/_vamana/codebooks/visible/_train",
            "{\"index\": \"photos\", \"field\": \"v\", \"sample_size\": 1000, \"subspaces\": 4}");
    Map<String, Object> shown = node.client().get("/_vamana/codebooks/visible");
    int visible = (int) IntStream.range(0, COUNT).filter(doc -> !hidden(doc)).count();
    assertEquals(shown.toString(), visible, NodeClient.at(shown, "codebooks", 0, "trained_on"));
    assertEquals(shown.toString(), visible, NodeClient.at(shown, "codebooks", 0, "documents"));
    assertTrue(wrapped() > before);
    NodeClient.Response refused =
        node.client()
            .send(
                "POST",
                "/_vamana/codebooks/none/_train",
                """
                {"index": "photos", "field": "v", "query": {"term": {"hidden": "yes"}}}
                """,
                "application/json");
    assertEquals(refused.body(), 400, refused.status());
    node.client().delete("/_vamana/codebooks/visible");
  }

  /** Answers about shards and segments tell numbers of vectors and bytes, but no document. */
  @Test
  public void testWhatIsToldOfSegmentsNamesNoDocument() throws IOException {
    assertNamesNoDocument("GET", "/_vamana/nodes/stats");
    assertNamesNoDocument("POST", "/photos/_vamana/warmup");
    assertNamesNoDocument("GET", "/_cat/vamana/photos?format=json&h=*");
    assertNamesNoDocument("POST", "/photos/_vamana/clear_cache");
  }

  private static void assertNamesNoDocument(String method, String path) throws IOException {
    NodeClient.Response answer = node.client().send(method, path, null, "application/json");
    assertEquals(answer.body(), 200, answer.status());
    for (String part : List.of("_id", "_source", "colour", "red")) {
      assertFalse(path + ": " + answer.body(), answer.body().contains("\"" + part + "\""));
    }
  }
}
