package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.Map;
import java.util.function.IntPredicate;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** Standard searches with filters by the field of {@code index.vamana.filter_field}, on a node. */
public class FilterFieldIT {
  private static final int DIMS = 24;
  private static final int COUNT = 4_000;
  private static final int K = 10;
  private static final TestVectors VECTORS = TestVectors.clustered(COUNT, DIMS, 20, 65);
  private static final TestVectors QUERIES = TestVectors.clustered(10, DIMS, 20, 65);

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static RunningNode node;

  @BeforeClass
  public static void startNode() throws IOException {
    node = CLUSTER.first();
  }

  private static String settings(String field) {
    return TestIndex.VAMANA + ", \"index.vamana.filter_field\": \"" + field + "\"";
  }

  /** Two large tenants, and many small ones. */
  private static String tenant(int doc) {
    return doc % 10 < 4 ? "a" : doc % 10 < 7 ? "b" : "c" + doc % 100;
  }

  private static String source(int doc) {
    return Json.of(
        """
        {"v": %s, "tenant": "%s"}\
        """,
        VECTORS.json(doc), tenant(doc));
  }

  private static TestIndex filled(String name) throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            settings("tenant"),
            "\"tenant\": {\"type\": \"keyword\"}, "
                + TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.index(0, COUNT, FilterFieldIT::source);
    return index;
  }

  private static void assertAnswers(TestIndex index, IntPredicate live) throws IOException {
    assertAnswers(index, "{\"term\": {\"tenant\": \"a\"}}", doc -> live.test(doc) && in(doc, "a"));
    assertAnswers(
        index, "{\"term\": {\"tenant\": \"c8\"}}", doc -> live.test(doc) && in(doc, "c8"));
    assertAnswers(
        index,
        "{\"terms\": {\"tenant\": [\"b\", \"c7\", \"c99\", \"none\"]}}",
        doc -> live.test(doc) && in(doc, "b", "c7", "c99"));
  }

  private static boolean in(int doc, String... tenants) {
    for (String tenant : tenants) {
      if (tenant.equals(tenant(doc))) {
        return true;
      }
    }
    return false;
  }

  private static void assertAnswers(TestIndex index, String filter, IntPredicate accepted)
      throws IOException {
    double recall = 0;
    for (int i = 0; i < QUERIES.count(); i++) {
      float[] query = QUERIES.vector(i);
      Map<Integer, Double> scores = VECTORS.scores(query, Similarity.L2_NORM, accepted);
      Map<String, Object> found =
          index.search(
              Json.of(
                  """
                  {"knn": {"field": "v", "query_vector": %s, "k": %d, "num_candidates": 50,
                           "filter": %s}, "size": %d, "_source": false}
                  """,
                  TestVectors.json(query), K, filter, K));
      recall += Answers.recall(scores, K, found) / QUERIES.count();
    }
    assertTrue(filter + ": recall " + recall, recall >= 0.9);
  }

  /** A flush writes no graphs of values; a forced merge does, even of a single segment. */
  @Test
  public void testSearches() throws IOException {
    TestIndex index = filled("tenants");
    assertAnswers(index, doc -> true);
    index.forceMerge();
    Map<String, Object> segments = node.client().get("/tenants/_segments");
    assertTrue(segments.toString(), segments.toString().contains("=graph tenant"));
    assertAnswers(index, doc -> true);
    index.delete(0, COUNT, doc -> doc % 7 == 0);
    assertAnswers(index, doc -> doc % 7 != 0);
    index.forceMerge();
    assertAnswers(index, doc -> doc % 7 != 0);
  }

  @Test
  public void testTypesWithoutDocValuesAreRefused() throws IOException {
    String vector = ", " + TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw");
    for (String type :
        new String[] {"\"text\"", "\"keyword\", \"doc_values\": false", "\"geo_point\""}) {
      IllegalStateException e =
          assertThrows(
              IllegalStateException.class,
              () ->
                  TestIndex.create(
                      node.client(),
                      "refused",
                      settings("tenant"),
                      "\"tenant\": {\"type\": " + type + "}" + vector));
      assertTrue(e.getMessage(), e.getMessage().contains("[index.vamana.filter_field]"));
      assertTrue(e.getMessage(), e.getMessage().contains("[tenant]"));
      assertTrue(e.getMessage(), e.getMessage().contains("allowed are [keyword, boolean"));
    }
  }

  /** A field that is mapped later, in whatever way, loses no documents. */
  @Test
  public void testFieldsThatAreMappedLater() throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            "later",
            settings("body"),
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    for (int from = 0; from < 600; from += 200) {
      index.index(
          from,
          from + 200,
          doc -> Json.of("{\"v\": %s, \"body\": \"words %d\"}", VECTORS.json(doc), doc % 2));
    }
    index.forceMerge();
    assertEquals(
        600L,
        ((Number) NodeClient.at(index.search("{\"size\": 0}"), "hits", "total", "value"))
            .longValue());
    Map<Integer, Double> scores =
        VECTORS.scores(QUERIES.vector(0), Similarity.L2_NORM, doc -> doc < 600);
    assertTrue(Answers.recall(scores, K, index.knn("v", QUERIES.vector(0), K, 100)) >= 0.9);
  }
}
