package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntPredicate;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** Indices of the type {@code ivf} on a node; searches of all candidates are exact. */
public class InvertedListsIT {
  private static final int DIMS = 24;
  private static final int COUNT = 2_000;
  private static final int K = 10;
  private static final TestVectors VECTORS = TestVectors.clustered(COUNT, DIMS, 20, 61);
  private static final TestVectors QUERIES = TestVectors.clustered(20, DIMS, 20, 61);
  private static final IntPredicate LIVE = doc -> doc % 5 != 3;
  private static final IntPredicate RED = doc -> LIVE.test(doc) && doc % 3 == 0;
  private static final String LISTS =
      "\"index.vamana.enabled\": true, \"index.vamana.type\": \"ivf\","
          + " \"index.vamana.graph_threshold\": 0";

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static RunningNode node;

  @BeforeClass
  public static void startNode() throws IOException {
    node = CLUSTER.first();
  }

  /** An index of all documents in two segments, some of them deleted. */
  private static TestIndex filled(String name, String similarity) throws IOException {
    return filled(name, similarity, LISTS);
  }

  private static TestIndex filled(String name, String similarity, String settings)
      throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            settings,
            "\"colour\": {\"type\": \"keyword\"}, "
                + TestIndex.denseVector("v", "float", DIMS, similarity, "hnsw"));
    index.index(0, COUNT / 2, InvertedListsIT::source);
    index.index(COUNT / 2, COUNT, InvertedListsIT::source);
    index.delete(0, COUNT, LIVE.negate());
    return index;
  }

  private static String source(int doc) {
    return Json.of(
        """
        {"v": %s, "colour": "%s"}\
        """,
        VECTORS.json(doc), doc % 3 == 0 ? "red" : "blue");
  }

  private static void assertAnswers(TestIndex index, Similarity similarity) throws IOException {
    double recall = 0;
    for (int i = 0; i < QUERIES.count(); i++) {
      float[] query = QUERIES.vector(i);
      Map<Integer, Double> scores = VECTORS.scores(query, similarity, LIVE);
      Answers.assertBest(scores, K, index.knn("v", query, K, COUNT));
      // lists are near to centres, not large by inner products
      recall +=
          similarity == Similarity.MAX_INNER_PRODUCT
              ? 1
              : Answers.recall(scores, K, index.knn("v", query, K, 100));
      Map<String, Object> red =
          index.search(
              Json.of(
                  """
                  {"knn": {"field": "v", "query_vector": %s, "k": %d, "num_candidates": %d,
                           "filter": {"term": {"colour": "red"}}}, "size": %d}
                  """,
                  TestVectors.json(query), K, COUNT, K));
      Answers.assertBest(VECTORS.scores(query, similarity, RED), K, red);
    }
    assertTrue("recall " + recall / QUERIES.count(), recall / QUERIES.count() >= 0.9);
  }

  private static void assertState(String name, boolean lists) throws IOException {
    String states =
        node.client().send("GET", "/_cat/vamana/" + name + "?h=state", null, null).body();
    for (String state : states.trim().split("\\s+")) {
      assertEquals(states, lists, state.equals("lists"));
    }
  }

  @Test
  public void testSearches() throws IOException {
    for (Similarity similarity :
        new Similarity[] {Similarity.L2_NORM, Similarity.COSINE, Similarity.MAX_INNER_PRODUCT}) {
      String name = "lists-" + similarity.name().toLowerCase(Locale.ROOT);
      TestIndex index = filled(name, similarity.name().toLowerCase(Locale.ROOT));
      index.assertSegmentsInOurFormat(true);
      assertState(name, true);
      assertAnswers(index, similarity);
      index.forceMerge();
      assertEquals(1, index.segments().size());
      assertState(name, true);
      assertAnswers(index, similarity);
    }
  }

  /** Elasticsearch's rule for the end of a walk, which is on by default, does not end lists. */
  @Test
  public void testEarlyTerminationIsForGraphs() throws IOException {
    TestIndex index = filled("lists-late", "l2_norm");
    index.forceMerge();
    List<String> byDefault = docs(index);
    index.set("\"index.dense_vector.hnsw_enable_early_termination\": false");
    assertEquals(docs(index), byDefault);
  }

  private static List<String> docs(TestIndex index) throws IOException {
    List<String> docs = new ArrayList<>();
    for (int i = 0; i < QUERIES.count(); i++) {
      for (int candidates : new int[] {K, 50, 200}) {
        Answers.hits(index.knn("v", QUERIES.vector(i), K, candidates))
            .forEach(hit -> docs.add(candidates + ": " + Answers.doc(hit)));
      }
    }
    return docs;
  }

  @Test
  public void testProductQuantization() throws IOException {
    for (Similarity similarity :
        new Similarity[] {Similarity.L2_NORM, Similarity.COSINE, Similarity.MAX_INNER_PRODUCT}) {
      String of = similarity.name().toLowerCase(Locale.ROOT);
      String name = "lists-pq-" + of;
      TestIndex index = filled(name, of, LISTS + ", \"index.vamana.codes\": \"pq\"");
      assertState(name, true);
      assertAnswers(index, similarity);
      index.forceMerge();
      assertState(name, true);
      assertAnswers(index, similarity);
    }
  }

  @Test
  public void testUnknownCodesAreRefused() throws IOException {
    var answer =
        node.client()
            .send(
                "PUT",
                "/lists-refused",
                "{\"settings\": {" + LISTS + ", \"index.vamana.codes\": \"pq8\"}}",
                "application/json");
    assertEquals(400, answer.status());
    assertTrue(answer.body(), answer.body().contains("[pq8] for setting [index.vamana.codes]"));
    assertTrue(answer.body(), answer.body().contains("rabitq7, pq]"));
  }

  @Test
  public void testBatch() throws IOException {
    TestIndex index = filled("lists-batch", "l2_norm");
    StringBuilder vectors = new StringBuilder();
    for (int i = 0; i < QUERIES.count(); i++) {
      vectors.append(i == 0 ? "" : ", ").append(TestVectors.json(QUERIES.vector(i)));
    }
    Map<String, Object> answer =
        node.client()
            .post(
                "/lists-batch/_vamana/search",
                Json.of(
                    """
                    {"field": "v", "query_vectors": [%s], "k": %d, "num_candidates": %d}
                    """,
                    vectors, K, COUNT));
    List<?> responses = (List<?>) answer.get("responses");
    assertEquals(QUERIES.count(), responses.size());
    for (int i = 0; i < responses.size(); i++) {
      List<?> hits = (List<?>) NodeClient.at(responses.get(i), "hits", "hits");
      Map<String, Object> single = index.knn("v", QUERIES.vector(i), K, COUNT);
      List<?> expected = Answers.hits(single);
      assertEquals(expected.size(), hits.size());
      for (int rank = 0; rank < hits.size(); rank++) {
        assertEquals(Answers.score(expected.get(rank)), Answers.score(hits.get(rank)), 1e-6);
      }
    }
  }

  /** An index changes its type both ways, with searches in between. */
  @Test
  public void testChangeOfType() throws IOException {
    TestIndex index = filled("lists-changed", "l2_norm");
    for (String type : List.of("graph", "ivf")) {
      index.close();
      index.set("\"index.vamana.type\": \"" + type + "\"");
      index.open();
      assertAnswers(index, Similarity.L2_NORM);
      index.forceMerge();
      assertState("lists-changed", type.equals("ivf"));
      assertAnswers(index, Similarity.L2_NORM);
    }
  }

  @Test
  public void testSnapshot() throws IOException {
    TestIndex index = filled("lists-kept", "l2_norm");
    String location = node.home().root().resolve("repository").resolve("lists").toString();
    node.client()
        .put(
            "/_snapshot/lists",
            "{\"type\": \"fs\", \"settings\": {\"location\": \"" + location + "\"}}");
    node.client()
        .put("/_snapshot/lists/one?wait_for_completion=true", "{\"indices\": \"lists-kept\"}");
    node.client().delete("/lists-kept");
    Map<String, Object> restored =
        node.client().post("/_snapshot/lists/one/_restore?wait_for_completion=true", "{}");
    assertEquals(0, NodeClient.at(restored, "snapshot", "shards", "failed"));
    assertState("lists-kept", true);
    assertAnswers(index, Similarity.L2_NORM);
    node.client().delete("/_snapshot/lists/one");
    node.client().delete("/_snapshot/lists");
  }
}
