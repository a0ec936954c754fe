package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
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

  private static Object field(String index) throws IOException {
    Map<String, Object> answer = node.client().get("/" + index + "/_vamana/recall");
    return NodeClient.at(answer, "indices", index, "fields", "v");
  }

  private static long evaluated() throws IOException {
    Map<String, Object> stats = node.client().get("/_vamana/stats/recall");
    Object only = ((Map<?, ?>) stats.get("nodes")).values().iterator().next();
    return ((Number) NodeClient.at(only, "recall", "evaluated")).longValue();
  }

  private static void awaitEvaluated(long count) throws Exception {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (evaluated() < count) {
      assertTrue(
          "not evaluated: " + node.client().get("/_vamana/stats/recall"),
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

  private static Object only(Object field, String list) {
    List<?> rows = (List<?>) NodeClient.at(field, list);
    assertEquals(rows.toString(), 1, rows.size());
    return rows.get(0);
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
    Object field = field("poor");
    Object search = only(field, "searches");
    assertEquals(recall, number(search, "recall"), 1e-3);
    assertEquals(QUERIES, number(search, "queries"), 0);
    assertEquals(0, number(search, "filtered"), 0);
    assertTrue(search.toString(), number(search, "low") < recall);
    assertTrue(search.toString(), number(search, "high") > recall);
    assertTrue(search.toString(), number(search, "distances") > K);
    assertTrue(search.toString(), number(search, "latency_in_micros") > 0);
    List<?> repeated = (List<?>) NodeClient.at(search, "repeated");
    double last = 0;
    double lastDistances = 0;
    for (Object repeat : repeated) {
      assertTrue(repeated.toString(), number(repeat, "recall") >= last - 0.02);
      assertTrue(repeated.toString(), number(repeat, "distances") > lastDistances);
      last = number(repeat, "recall");
      lastDistances = number(repeat, "distances");
    }
    assertEquals("the same answers again", recall, number(repeated.get(0), "recall"), 1e-3);
    assertTrue("more candidates find more", last > recall);
    double neighbors = 0;
    double found = 0;
    for (Object segment : (List<?>) NodeClient.at(field, "segments")) {
      neighbors += number(segment, "neighbors");
      found += number(segment, "found");
    }
    assertEquals(QUERIES * K, neighbors, 0);
    assertEquals(recall * QUERIES * K, found, 1e-6);
    String advice = (String) NodeClient.at(field, "advice");
    assertTrue(advice, advice.startsWith("at num_candidates 10 the recall of 10 hits is 0."));
    assertTrue(advice, advice.contains(" would give "));
    assertEquals(
        "on two segments, by a node without a GPU: " + field,
        Map.of("cpu.no_device", 2 * QUERIES),
        NodeClient.at(field, "answered_by"));
  }

  /** A repetition ends early if the search did, and only then. */
  @Test
  public void testSearchesThatEndEarly() throws Exception {
    TestIndex index = index("early", 1);
    index.forceMerge();
    String body =
        """
        {"knn": {"field": "v", "query_vector": %s, "k": 10, "num_candidates": 200}}
        """;
    double early = ask(index, body, doc -> true);
    double distances = assertSameRecallAgain("early", early);
    index.set("\"index.dense_vector.hnsw_enable_early_termination\": false");
    double late = ask(index, body, doc -> true);
    assertTrue(late + " after " + early, late >= early);
    double ofBoth = assertSameRecallAgain("early", (early + late) / 2);
    assertTrue(ofBoth + " after " + distances, ofBoth > distances);
  }

  /** Returns the mean number of distances of the searches. */
  private static double assertSameRecallAgain(String index, double recall) throws IOException {
    Object search = only(field(index), "searches");
    assertEquals(recall, number(search, "recall"), 1e-3);
    List<?> repeated = (List<?>) NodeClient.at(search, "repeated");
    Object again =
        repeated.stream()
            .filter(row -> number(row, "num_candidates") == number(search, "num_candidates"))
            .findFirst()
            .orElseThrow();
    assertEquals(repeated.toString(), recall, number(again, "recall"), 1e-3);
    assertEquals(number(search, "distances"), number(again, "distances"), 0);
    return number(search, "distances");
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
    Object search = only(field("filtered"), "searches");
    assertEquals(recall, number(search, "recall"), 1e-3);
    assertEquals(QUERIES, number(search, "filtered"), 0);
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
    Object search = only(field("batched"), "searches");
    assertEquals("one query of the batch", 1, number(search, "queries"), 0);
    assertEquals(20, number(search, "num_candidates"), 0);
    String advice = (String) NodeClient.at(field("batched"), "advice");
    assertTrue(advice, advice.endsWith("from 1 searches; advice needs 30"));
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
    Map<String, Object> answer = node.client().get("/off/_vamana/recall");
    assertEquals(Map.of(), NodeClient.at(answer, "indices", "off", "fields"));
    index.set("\"index.vamana.recall.sample_rate\": 1.0");
    index.knn("v", ASKED.vector(0), K, K);
    awaitEvaluated(before + 1);
    assertEquals(1, number(only(field("off"), "searches"), "queries"), 0);
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
    assertEquals(2, number(only(field("half"), "searches"), "queries"), 0);
  }

  @Test
  public void testWhatCannotBeEvaluatedIsCounted() throws Exception {
    TestIndex index = index("thresholds", 1);
    index.search(
        Json.of(
            """
            {"knn": {"field": "v", "query_vector": %s, "k": 10, "num_candidates": 10,
                     "similarity": 100}}
            """,
            ASKED.json(0)));
    Map<String, Object> answer = node.client().get("/thresholds/_vamana/recall");
    assertEquals(
        Map.of("unsupported", 1), NodeClient.at(answer, "indices", "thresholds", "skipped"));
    assertFalse(answer.toString(), answer.toString().contains("failed=1"));
  }
}
