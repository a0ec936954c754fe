package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.elasticsearch.monitor.stats.MetricsText;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/**
 * The recall that a node reports of its searches, compared with exact search in this JVM. Graphs
 * have few edges and searches few candidates, so that neighbours are missed.
 */
public class RecallIT {
  private static final int DIMS = 32;
  private static final int COUNT = 3_000;
  private static final int K = 10;
  private static final int QUERIES = 40;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 5);
  private static final TestVectors ASKED = TestVectors.random(QUERIES, DIMS, 6);
  private static final IntPredicate RED = doc -> doc % 3 == 0;

  private static final String POORLY =
      """
      "index.vamana.enabled": true, "index.vamana.max_degree": 8, "index.vamana.beam_width": 16,
      "index.vamana.graph_threshold": 0, "index.vamana.recall.sample_rate": \
      """;

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static RunningNode node;

  @BeforeClass
  public static void allowMuchWork() throws IOException {
    node = CLUSTER.first();
    node.client().set("vamana.recall.max_load", 1);
  }

  private static TestIndex index(String name, double rate) throws IOException {
    return index(name, rate, "");
  }

  private static TestIndex index(String name, double rate, String settings) throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            POORLY + rate + settings,
            "\"color\": {\"type\": \"keyword\"}, "
                + TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    for (int from = 0; from < COUNT; from += COUNT / 2) {
      index.index(from, from + COUNT / 2, RecallIT::source);
    }
    return index;
  }

  private static String source(int doc) {
    return Json.of(
        "{\"v\": %s, \"color\": \"%s\"}", VECTORS.json(doc), RED.test(doc) ? "red" : "blue");
  }

  private static Set<String> ids(Map<String, Object> answer) {
    Set<String> ids = new HashSet<>();
    for (Object hit : (List<?>) NodeClient.at(answer, "hits", "hits")) {
      ids.add((String) NodeClient.at(hit, "_id"));
    }
    return ids;
  }

  /** Share of the true neighbours among hits; scores have no ties to speak of. */
  private static double recall(Map<String, Object> answer, float[] query, IntPredicate accepted) {
    Set<String> found = ids(answer);
    List<String> exact =
        new ArrayList<>(
            VECTORS.scores(query, Similarity.L2_NORM, accepted).entrySet().stream()
                .sorted(Map.Entry.<Integer, Double>comparingByValue().reversed())
                .limit(K)
                .map(entry -> entry.getKey().toString())
                .toList());
    return exact.stream().filter(found::contains).count() / (double) exact.size();
  }

  /** The recall that the statistics of an index have for its only field and number of hits. */
  private static Object measured(String index) throws IOException {
    Map<String, Object> answer = node.client().get("/" + index + "/_vamana/stats");
    List<?> rows = (List<?>) NodeClient.at(answer, "indices", index, "fields", "v", "recall");
    assertEquals(rows.toString(), 1, rows.size());
    return rows.get(0);
  }

  private static long skipped(String reason) throws IOException {
    Map<String, Object> stats = node.client().get("/_vamana/nodes/stats/recall");
    Object only = ((Map<?, ?>) stats.get("nodes")).values().iterator().next();
    return ((Number) NodeClient.at(only, "recall", "skipped", reason)).longValue();
  }

  private static long evaluated() throws IOException {
    Map<String, Object> stats = node.client().get("/_vamana/nodes/stats/recall");
    Object only = ((Map<?, ?>) stats.get("nodes")).values().iterator().next();
    return ((Number) NodeClient.at(only, "recall", "evaluated")).longValue();
  }

  private static void awaitEvaluated(long count) throws Exception {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (evaluated() < count) {
      assertTrue(
          "not evaluated: " + node.client().get("/_vamana/nodes/stats/recall"),
          System.nanoTime() < deadline);
      Thread.sleep(5);
    }
  }

  /** Asks all queries, each after the last one was evaluated, and returns their mean recall. */
  private static double ask(TestIndex index, String body, IntPredicate accepted) throws Exception {
    double sum = 0;
    for (int i = 0; i < QUERIES; i++) {
      long before = evaluated();
      Map<String, Object> answer = index.search(Json.of(body, ASKED.json(i)));
      sum += recall(answer, ASKED.vector(i), accepted);
      awaitEvaluated(before + 1);
    }
    return sum / QUERIES;
  }

  private static double number(Object json, String name) {
    return ((Number) NodeClient.at(json, name)).doubleValue();
  }

  @Test
  public void testReportedRecallIsTheRecall() throws Exception {
    TestIndex index = index("poor", 1);
    double recall =
        ask(
            index,
            """
            {"knn": {"field": "v", "query_vector": %s, "k": 10, "num_candidates": 10}}
            """,
            doc -> true);
    assertTrue("neighbours are missed, " + recall, recall < 0.95);
    Object search = measured("poor");
    assertEquals(recall, number(search, "recall"), 1e-3);
    assertEquals(QUERIES, number(search, "queries"), 0);
    assertEquals(K, number(search, "k"), 0);
    assertTrue(search.toString(), number(search, "recall_low") < recall);
    assertTrue(search.toString(), number(search, "recall_high") > recall);
    MetricsText text = Scrape.assertSameAsJson(node.client(), "/_vamana/nodes/stats");
    Map<String, String> labels = Map.of("index", "poor", "field", "v", "k", "10");
    assertEquals(1, text.values("vamana_searches_recall", labels).size());
  }

  @Test
  public void testFiltersAndQueryClauses() throws Exception {
    TestIndex index = index("filtered", 1);
    double recall =
        ask(
            index,
            """
            {"query": {"knn": {"field": "v", "query_vector": %s, "k": 10, "num_candidates": 10,
                               "filter": {"term": {"color": "red"}}}}}
            """,
            RED);
    Object search = measured("filtered");
    assertEquals(recall, number(search, "recall"), 1e-3);
    assertEquals(QUERIES, number(search, "queries"), 0);
  }

  @Test
  public void testBatches() throws Exception {
    index("batched", 1);
    long before = evaluated();
    node.client()
        .post(
            "/batched/_vamana/search",
            Json.of(
                """
                {"field": "v", "query_vectors": [%s, %s], "k": 10, "num_candidates": 20}
                """,
                ASKED.json(0), ASKED.json(1)));
    awaitEvaluated(before + 1);
    Object search = measured("batched");
    assertEquals("one query of the batch", 1, number(search, "queries"), 0);
  }

  /** Mean recall of the answers, and not of samples. */
  private static double recallOfAnswers(TestIndex index) throws IOException {
    double sum = 0;
    for (int i = 0; i < QUERIES; i++) {
      sum += recall(index.knn("v", ASKED.vector(i), K, K), ASKED.vector(i), doc -> true);
    }
    return sum / QUERIES;
  }

  private static double recallOfABatch(String index, String more) throws IOException {
    List<String> vectors = new ArrayList<>();
    for (int i = 0; i < QUERIES; i++) {
      vectors.add(ASKED.json(i));
    }
    Map<String, Object> answer =
        node.client()
            .post(
                "/" + index + "/_vamana/search",
                Json.of(
                    "{\"field\": \"v\", \"query_vectors\": %s, \"k\": 10, \"num_candidates\": 10%s}",
                    vectors, more));
    List<?> responses = (List<?>) answer.get("responses");
    double sum = 0;
    for (int i = 0; i < QUERIES; i++) {
      @SuppressWarnings("unchecked")
      Map<String, Object> response = (Map<String, Object>) responses.get(i);
      sum += recall(response, ASKED.vector(i), doc -> true);
    }
    return sum / QUERIES;
  }

  /** Of an index while it is open, for segments that there are and that come; and of a request. */
  @Test
  public void testWiderBeams() throws Exception {
    TestIndex index = index("beams", 0, TestIndex.NO_EARLY_END);
    double narrow = recallOfAnswers(index);
    assertTrue("neighbours are missed, " + narrow, narrow < 0.95);
    assertEquals(narrow, recallOfABatch("beams", ""), 1e-6);
    double wide = recallOfABatch("beams", ", \"beam_width\": 200");
    assertTrue(wide + " after " + narrow, wide > narrow + 0.03);
    index.set("\"index.vamana.search.beam_width\": 200");
    assertEquals(wide, recallOfAnswers(index), 1e-6);
    assertEquals(wide, recallOfABatch("beams", ""), 1e-6);
    index.forceMerge();
    double merged = recallOfAnswers(index);
    assertTrue("a new segment, " + merged + " after " + narrow, merged > narrow + 0.03);
    index.close();
    index.open();
    assertEquals("a reopened index", merged, recallOfAnswers(index), 1e-6);
    index.set("\"index.vamana.search.beam_width\": null");
    assertTrue("as before", recallOfAnswers(index) < merged - 0.03);
  }

  @Test
  public void testNothingIsSampledUnlessAskedFor() throws Exception {
    TestIndex index = index("off", 0);
    long before = evaluated();
    index.knn("v", ASKED.vector(0), K, K);
    Map<String, Object> answer = node.client().get("/off/_vamana/stats");
    assertEquals(List.of(), NodeClient.at(answer, "indices", "off", "fields", "v", "recall"));
    index.set("\"index.vamana.recall.sample_rate\": 1.0");
    index.knn("v", ASKED.vector(0), K, K);
    awaitEvaluated(before + 1);
    assertEquals(1, number(measured("off"), "queries"), 0);
  }

  /** Half of the searches; the query phase that each of them has, too, takes no part. */
  @Test
  public void testAShareOfTheSearches() throws Exception {
    TestIndex index = index("half", 0.5);
    long before = evaluated();
    index.knn("v", ASKED.vector(0), K, K);
    index.knn("v", ASKED.vector(1), K, K);
    awaitEvaluated(before + 1);
    index.knn("v", ASKED.vector(2), K, K);
    index.knn("v", ASKED.vector(3), K, K);
    awaitEvaluated(before + 2);
    assertEquals(2, number(measured("half"), "queries"), 0);
  }

  @Test
  public void testWhatCannotBeEvaluatedIsCounted() throws Exception {
    TestIndex index = index("thresholds", 1);
    long before = skipped("unsupported");
    long failed = skipped("failed");
    index.search(
        Json.of(
            """
            {"knn": {"field": "v", "query_vector": %s, "k": 10, "num_candidates": 10,
                     "similarity": 100}}
            """,
            ASKED.json(0)));
    assertEquals(before + 1, skipped("unsupported"));
    assertEquals(failed, skipped("failed"));
  }
}
