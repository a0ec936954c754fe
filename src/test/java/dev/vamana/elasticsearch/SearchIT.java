package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.IntPredicate;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/**
 * Every kind of kNN search that Elasticsearch offers, over HTTP, on opted-in indices of a real
 * node. The documents of the shared index lie in several segments of two shards, some are deleted,
 * and answers are compared with exact search in this JVM.
 */
public class SearchIT {
  private static final int DIMS = 16;
  private static final int COUNT = 600;
  private static final int CANDIDATES = 200;

  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 1);
  private static final TestVectors QUERIES = TestVectors.random(10, DIMS, 2);
  private static final IntPredicate LIVE = doc -> doc % 10 != 3;
  private static final IntPredicate RED = LIVE.and(doc -> doc % 4 == 0);
  private static final IntPredicate RARE = LIVE.and(doc -> doc % 150 == 0);

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static RunningNode node;
  private static TestIndex shared;

  @BeforeClass
  public static void startNode() throws IOException {
    node = CLUSTER.first();
    shared =
        TestIndex.create(
            node.client(),
            "shared",
            TestIndex.VAMANA + ", \"index.number_of_shards\": 2",
            Json.of(
                """
            "color": {"type": "keyword"}, "rare": {"type": "boolean"},
            %s, %s
            """,
                TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"),
                TestIndex.denseVector("other", "float", DIMS, "max_inner_product", "hnsw")));
    for (int from = 0; from < COUNT; from += COUNT / 3) {
      shared.index(from, from + COUNT / 3, SearchIT::source);
    }
    shared.delete(0, COUNT, LIVE.negate());
    shared.assertSegmentsInOurFormat(true);
    assertTrue(shared.segments().size() >= 4);
  }

  private static String source(int doc) {
    return Json.of(
        """
        {"v": %s, "other": %s, "color": "%s", "rare": %s}\
        """,
        VECTORS.json(doc),
        VECTORS.json(COUNT - 1 - doc),
        doc % 4 == 0 ? "red" : "blue",
        doc % 150 == 0);
  }

  private static Map<Integer, Double> scores(float[] query, IntPredicate accepted) {
    return VECTORS.scores(query, Similarity.L2_NORM, accepted);
  }

  private static Map<Integer, Double> otherScores(float[] query) {
    Map<Integer, Double> scores = new HashMap<>();
    VECTORS
        .scores(query, Similarity.MAX_INNER_PRODUCT, doc -> LIVE.test(COUNT - 1 - doc))
        .forEach((doc, score) -> scores.put(COUNT - 1 - doc, score));
    return scores;
  }

  @Test
  public void testKnnSection() throws IOException {
    for (int i = 0; i < QUERIES.count(); i++) {
      float[] query = QUERIES.vector(i);
      Answers.assertBest(scores(query, LIVE), 10, shared.knn("v", query, 10, CANDIDATES));
      Answers.assertBest(otherScores(query), 10, shared.knn("other", query, 10, CANDIDATES));
    }
  }

  @Test
  public void testAllDocumentsAsCandidates() throws IOException {
    float[] query = QUERIES.vector(0);
    Answers.assertBest(scores(query, LIVE), COUNT, shared.knn("v", query, COUNT, COUNT));
  }

  /** The deleted documents stay in their segment: a merge would be of too few of all. */
  @Test
  public void testAsManyHitsAsThereAreWhenMostAreDeleted() throws IOException {
    int count = 1_000;
    TestVectors vectors = TestVectors.random(count, DIMS, 3);
    TestIndex index =
        TestIndex.create(
            node.client(),
            "thinned",
            TestIndex.VAMANA + ", \"index.merge.policy.deletes_pct_allowed\": 50",
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw")
                + ", \"nested\": {\"type\": \"nested\", \"properties\": {"
                + TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw")
                + "}}");
    index.index(
        0,
        count,
        doc -> {
          String vector = "{\"v\": " + vectors.json(doc);
          return vector + ", \"nested\": [" + vector + "}]}";
        });
    index.index(count, 6 * count, doc -> "{\"other\": 1}");
    IntPredicate before = doc -> true;
    for (int rest : new int[] {50, 12, 5}) {
      IntPredicate live = doc -> doc % 20 == 0 && doc < 20 * rest;
      index.delete(0, count, before.and(live.negate()));
      before = live;
      assertTrue(
          index.segments().toString(),
          index.segments().stream()
              .anyMatch(s -> s.get("deleted_docs").equals(2 * (count - rest))));
      for (int i = 0; i < QUERIES.count(); i++) {
        float[] query = QUERIES.vector(i);
        Map<Integer, Double> scores = vectors.scores(query, Similarity.L2_NORM, live);
        Answers.assertBest(scores, 10, index.knn("v", query, 10, 10));
        Answers.assertBest(scores, 10, index.knn("nested.v", query, 10, 10));
        Map<String, Object> batch =
            node.client()
                .post(
                    "/thinned/_vamana/search",
                    QUERIES.batchedSearch(i + 1, 10, 10, "\"_source\": false"));
        Map<String, Object> asSearch = new HashMap<>(batch);
        asSearch.put("hits", NodeClient.at(batch, "responses", i, "hits"));
        Answers.assertBest(scores, 10, asSearch);
      }
    }
    node.client().delete("/thinned");
  }

  @Test
  public void testFilters() throws IOException {
    for (int i = 0; i < QUERIES.count(); i++) {
      float[] query = QUERIES.vector(i);
      Answers.assertBest(
          scores(query, RED), 10, filtered(query, "{\"term\": {\"color\": \"red\"}}"));
      Answers.assertBest(scores(query, RARE), 10, filtered(query, "{\"term\": {\"rare\": true}}"));
      Answers.assertBest(Map.of(), 10, filtered(query, "{\"term\": {\"color\": \"green\"}}"));
    }
  }

  private static Map<String, Object> filtered(float[] query, String filter) throws IOException {
    return shared.search(
        Json.of(
            """
        {"knn": {"field": "v", "query_vector": %s, "k": 10, "num_candidates": %d, "filter": %s},
         "_source": false}
        """,
            TestVectors.json(query), CANDIDATES, filter));
  }

  /** Passage p is number p / 150 of document p % 150; a document scores as its best passage. */
  @Test
  public void testNestedWithInnerHits() throws IOException {
    int documents = 150;
    TestVectors passages = TestVectors.random(400, DIMS, 5);
    TestIndex index =
        TestIndex.create(
            node.client(),
            "nested",
            TestIndex.VAMANA,
            "\"passages\": {\"type\": \"nested\", \"properties\": {"
                + TestIndex.denseVector("v", "float", DIMS, "cosine", "hnsw")
                + "}}");
    index.index(
        0,
        documents,
        doc -> {
          StringBuilder source = new StringBuilder("{\"passages\": [");
          for (int passage = doc; passage < passages.count(); passage += documents) {
            source.append(passage == doc ? "" : ", ");
            source.append("{\"v\": ").append(passages.json(passage)).append('}');
          }
          return source.append("]}").toString();
        });
    index.assertSegmentsInOurFormat(true);
    for (int i = 0; i < QUERIES.count(); i++) {
      float[] query = QUERIES.vector(i);
      Map<Integer, Double> byPassage = passages.scores(query, Similarity.COSINE, p -> true);
      Map<Integer, Double> byDocument = new HashMap<>();
      byPassage.forEach((p, score) -> byDocument.merge(p % documents, score, Math::max));
      Map<String, Object> answer =
          index.search(
              Json.of(
                  """
              {"knn": {"field": "passages.v", "query_vector": %s, "k": 5, "num_candidates": 120,
                       "inner_hits": {"size": 1, "_source": false}}, "_source": false}
              """,
                  TestVectors.json(query)));
      Answers.assertBest(byDocument, 5, answer);
      for (Object hit : Answers.hits(answer)) {
        Object inner = NodeClient.at(hit, "inner_hits", "passages", "hits", "hits", 0);
        int offset = (Integer) NodeClient.at(inner, "_nested", "offset");
        int doc = Answers.doc(hit);
        assertEquals(byDocument.get(doc), byPassage.get(offset * documents + doc), 1e-9);
        assertEquals(byDocument.get(doc), Answers.score(inner), 1e-5);
      }
    }
    node.client().delete("/nested");
  }

  /** The other searches here are so small that scanning is cheaper; this one walks the graph. */
  @Test
  public void testWalks() throws IOException {
    int count = 6000;
    TestVectors vectors = TestVectors.random(count, DIMS, 4);
    TestIndex index =
        TestIndex.create(
            node.client(),
            "walked",
            TestIndex.VAMANA,
            "\"half\": {\"type\": \"boolean\"}, "
                + TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.index(
        0, count, doc -> "{\"half\": " + (doc % 2 == 0) + ", \"v\": " + vectors.json(doc) + "}");
    index.forceMerge();
    PluginNode.BuildPool pool = PluginNode.buildPool(node);
    assertTrue(pool.toString(), pool.completed() > 0 && pool.largest() <= 3);
    double recall = 0;
    double filteredRecall = 0;
    for (int i = 0; i < QUERIES.count(); i++) {
      float[] query = QUERIES.vector(i);
      Map<String, Object> answer = walked(index, query, "");
      recall += Answers.recall(vectors.scores(query, Similarity.L2_NORM, d -> true), 10, answer);
      answer = walked(index, query, ", \"filter\": {\"term\": {\"half\": true}}");
      filteredRecall +=
          Answers.recall(vectors.scores(query, Similarity.L2_NORM, d -> d % 2 == 0), 10, answer);
    }
    assertTrue("recall " + recall, recall / QUERIES.count() >= 0.95);
    assertTrue("recall " + filteredRecall, filteredRecall / QUERIES.count() >= 0.95);
    node.client().delete("/walked");
  }

  private static Map<String, Object> walked(TestIndex index, float[] query, String filter)
      throws IOException {
    Map<String, Object> answer =
        index.search(
            Json.of(
                """
            {"knn": {"field": "v", "query_vector": %s, "k": 10, "num_candidates": 100%s},
             "profile": true, "_source": false}
            """,
                TestVectors.json(query), filter));
    int visited = Answers.profiledDistances(answer);
    // a walk, or a scan of the half that the filter accepts
    assertTrue("visited " + visited, visited > 0 && visited <= 3000);
    return answer;
  }

  /** Every similarity, with every index type that has a graph and every element type but bit. */
  @Test
  public void testTypesAndSimilarities() throws IOException {
    for (Similarity similarity : Similarity.values()) {
      for (String type : List.of("hnsw", "int8_hnsw", "int4_hnsw", "bbq_hnsw")) {
        assertType("float", similarity, type);
        if (similarity != Similarity.DOT_PRODUCT) {
          // The length of a vector rounded to bfloat16 is no longer 1.
          assertType("bfloat16", similarity, type);
        }
      }
      assertType("byte", similarity, "hnsw");
    }
  }

  private static void assertType(String element, Similarity similarity, String type)
      throws IOException {
    int dims = type.startsWith("bbq") ? 64 : 24;
    int count = 300;
    TestVectors vectors;
    if (element.equals("byte")) {
      vectors = TestVectors.randomBytes(count, dims, 3);
    } else if (similarity == Similarity.DOT_PRODUCT) {
      vectors = TestVectors.randomUnit(count, dims, 3);
    } else {
      vectors = TestVectors.random(count, dims, 3);
    }
    String name = (element + "-" + similarity + "-" + type).toLowerCase(Locale.ROOT);
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            TestIndex.VAMANA,
            TestIndex.denseVector(
                "v", element, dims, similarity.name().toLowerCase(Locale.ROOT), type));
    index.index(0, count, doc -> "{\"v\": " + vectors.json(doc) + "}");
    index.assertSegmentsInOurFormat(true);
    for (int i = 0; i < 5; i++) {
      float[] query = vectors.vector(new Random(i).nextInt(count));
      Map<Integer, Double> scores = vectors.scores(query, similarity, doc -> true);
      if (element.equals("byte") && similarity == Similarity.DOT_PRODUCT) {
        scores.replaceAll((doc, score) -> 0.5 + (2 * score - 1) / (dims * 32768.0));
      }
      Answers.assertBest(scores, 10, index.knn("v", query, 10, 150));
      Answers.assertBest(scores, 10, rescored(index, query));
    }
    node.client().delete("/" + name);
  }

  private static Map<String, Object> rescored(TestIndex index, float[] query) throws IOException {
    return index.search(
        Json.of(
            """
        {"knn": {"field": "v", "query_vector": %s, "k": 10, "num_candidates": 150,
                 "rescore_vector": {"oversample": 3}}, "_source": false}
        """,
            TestVectors.json(query)));
  }
}
