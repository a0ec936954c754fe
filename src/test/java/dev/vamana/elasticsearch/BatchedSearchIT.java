package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/**
 * Batched searches compared with standard searches for the same vectors, one at a time, on two
 * nodes that share the shards.
 */
public class BatchedSearchIT {
  private static final int DIMS = 16;
  private static final int COUNT = 600;
  private static final int QUERIES = 20;

  /** Queries of tests that ask for each similarity. */
  private static final int FEW_QUERIES = 8;

  private static final int MANY = 8_000;
  private static final String ACTION = "indices:data/read/vamana/search";

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.TWO_NODES;

  private static RunningNode first;
  private static RunningNode second;

  @BeforeClass
  public static void startNodes() throws IOException {
    first = CLUSTER.first();
    second = CLUSTER.second();
  }

  private static String source(TestVectors vectors, int doc) {
    return Json.of(
        """
        {"v": %s, "color": "%s", "number": %d}\
        """,
        vectors.json(doc), doc % 4 == 0 ? "red" : "blue", doc);
  }

  private static TestIndex index(
      String name, String settings, String element, String similarity, TestVectors vectors)
      throws IOException {
    TestIndex index =
        TestIndex.create(
            first.client(),
            name,
            TestIndex.VAMANA + TestIndex.NO_EARLY_END + settings,
            TestIndex.denseVector("v", element, DIMS, similarity, "hnsw")
                + ", \"color\": {\"type\": \"keyword\"}, \"number\": {\"type\": \"integer\"}");
    index.awaitHealth("green");
    for (int from = 0; from < COUNT; from += COUNT / 3) {
      index.index(from, from + COUNT / 3, doc -> source(vectors, doc));
    }
    return index;
  }

  /** Members of both bodies, for each query the same or not. */
  private interface Members {
    String of(int query);
  }

  private static List<Object> standard(
      TestIndex index, TestVectors queries, int k, int candidates, Members knn, String rest)
      throws IOException {
    List<Object> answers = new ArrayList<>();
    for (int i = 0; i < queries.count(); i++) {
      Map<String, Object> answer =
          index.search(
              Json.of(
                  """
                  {"knn": {"field": "v", "query_vector": %s, "k": %d, "num_candidates": %d%s},
                   "size": %d%s}
                  """,
                  TestVectors.json(queries.vector(i)), k, candidates, knn.of(i), k, rest));
      answers.add(answer.get("hits"));
    }
    return answers;
  }

  private static Map<String, Object> batch(
      String path, TestVectors queries, int k, int candidates, String rest) throws IOException {
    String vectors =
        IntStream.range(0, queries.count())
            .mapToObj(i -> TestVectors.json(queries.vector(i)))
            .collect(Collectors.joining(","));
    return first
        .client()
        .post(
            "/" + path,
            Json.of(
                """
                {"field": "v", "query_vectors": [%s], "k": %d, "num_candidates": %d%s}
                """,
                vectors, k, candidates, rest));
  }

  private static List<Object> hits(Map<String, Object> batch) {
    List<Object> hits = new ArrayList<>();
    for (Object response : (List<?>) batch.get("responses")) {
      hits.add(NodeClient.at(response, "hits"));
    }
    return hits;
  }

  private static void assertSame(TestIndex index, TestVectors queries) throws IOException {
    String path = index.name() + "/_vamana/search";
    for (int[] width : new int[][] {{1, 1}, {10, 60}, {25, 300}}) {
      int k = width[0];
      int candidates = width[1];
      assertSameHits(
          standard(index, queries, k, candidates, i -> "", ""),
          hits(batch(path, queries, k, candidates, "")));
      String filter = "\"filter\": {\"term\": {\"color\": \"red\"}}";
      assertSameHits(
          standard(index, queries, k, candidates, i -> ", " + filter, ""),
          hits(batch(path, queries, k, candidates, ", " + filter)));
    }
  }

  /**
   * The same but for the last bits of scores, which depend on whether the code that sums up has
   * been compiled yet.
   */
  private static void assertSameHits(List<Object> expected, List<Object> found) {
    assertEquals(expected.size(), found.size());
    for (int i = 0; i < expected.size(); i++) {
      assertEquals(
          (Object) NodeClient.at(expected.get(i), "total"), NodeClient.at(found.get(i), "total"));
      List<?> hits = (List<?>) NodeClient.at(expected.get(i), "hits");
      List<?> foundHits = (List<?>) NodeClient.at(found.get(i), "hits");
      assertEquals(hits.size(), foundHits.size());
      for (int rank = 0; rank < hits.size(); rank++) {
        Map<Object, Object> hit = new HashMap<>((Map<?, ?>) hits.get(rank));
        Map<Object, Object> foundHit = new HashMap<>((Map<?, ?>) foundHits.get(rank));
        double score = ((Number) hit.remove("_score")).doubleValue();
        assertEquals(score, ((Number) foundHit.remove("_score")).doubleValue(), 1e-6 * score);
        assertEquals("query " + i + " rank " + rank, hit, foundHit);
      }
    }
  }

  @Test
  public void testOneSegmentOfFloats() throws IOException {
    for (String similarity : List.of("l2_norm", "cosine", "dot_product", "max_inner_product")) {
      boolean unit = similarity.equals("dot_product");
      TestVectors vectors =
          unit ? TestVectors.randomUnit(COUNT, DIMS, 1) : TestVectors.random(COUNT, DIMS, 1);
      TestVectors queries =
          unit
              ? TestVectors.randomUnit(FEW_QUERIES, DIMS, 2)
              : TestVectors.random(FEW_QUERIES, DIMS, 2);
      TestIndex index = index("floats-" + similarity, "", "float", similarity, vectors);
      index.forceMerge();
      assertSame(index, queries);
      index.delete(0, COUNT, doc -> doc % 10 == 3);
      assertSame(index, queries);
    }
  }

  @Test
  public void testSegmentsShardsAndIndices() throws IOException {
    TestVectors vectors = TestVectors.random(COUNT, DIMS, 5);
    TestVectors queries = TestVectors.random(QUERIES, DIMS, 6);
    TestIndex three =
        index("three", ", \"index.number_of_shards\": 3", "float", "l2_norm", vectors);
    index("more", ", \"index.number_of_shards\": 2", "float", "l2_norm", vectors);
    assertSame(three, queries);
    TestIndex both = new TestIndex(first.client(), "three,more");
    String rest = ", \"_source\": [\"color\"], \"fields\": [\"number\"]";
    List<Object> expected = standard(both, queries, 10, 60, i -> "", rest);
    assertSameHits(expected, hits(batch("three,more/_vamana/search", queries, 10, 60, rest)));

    Map<String, Object> columns =
        batch("three,more/_vamana/search?format=columns", queries, 10, 60, "");
    for (int i = 0; i < QUERIES; i++) {
      List<?> hits = (List<?>) NodeClient.at(expected.get(i), "hits");
      for (int rank = 0; rank < 10; rank++) {
        Object hit = hits.get(rank);
        assertEquals(NodeClient.at(hit, "_id"), entry(columns, "ids", i, rank));
        double score = ((Number) NodeClient.at(hit, "_score")).doubleValue();
        assertEquals(
            score, ((Number) entry(columns, "scores", i, rank)).doubleValue(), 1e-6 * score);
        assertEquals(NodeClient.at(hit, "_index"), entry(columns, "_index", i, rank));
      }
    }
    assertEquals(5, NodeClient.at(columns, "_shards", "successful"));
    String throttled = "three,more/_vamana/search?format=columns&max_concurrent_shard_requests=1";
    assertEquals(columns.get("ids"), batch(throttled, queries, 10, 60, "").get("ids"));

    setShardCountLimit("4");
    NodeClient.Response refused =
        first
            .client()
            .send(
                "POST",
                "/three,more/_vamana/search",
                queries.batchedSearch(QUERIES, 10, 60, "\"_source\": false"),
                "application/json");
    assertEquals(refused.body(), 400, refused.status());
    assertTrue(refused.body(), refused.body().contains("[5] shards, allowed are at most [4]"));
    assertTrue(refused.body(), refused.body().contains("[action.search.shard_count.limit]"));
    setShardCountLimit("null");
  }

  private static void setShardCountLimit(String limit) throws IOException {
    first
        .client()
        .put(
            "/_cluster/settings",
            "{\"persistent\": {\"action.search.shard_count.limit\": " + limit + "}}");
  }

  private static Object entry(Map<String, Object> columns, String column, int query, int rank) {
    return ((List<?>) ((List<?>) columns.get(column)).get(query)).get(rank);
  }

  @Test
  public void testFiltersAliasesRoutingAndSimilarity() throws IOException {
    TestVectors vectors = TestVectors.random(COUNT, DIMS, 7);
    TestVectors queries = TestVectors.random(QUERIES, DIMS, 8);
    TestIndex index =
        index("filtered", ", \"index.number_of_shards\": 2", "float", "l2_norm", vectors);
    Members members = i -> i % 5 == 0 ? "" : ", \"filter\": " + range(i % 3);
    String filters =
        IntStream.range(0, QUERIES)
            .mapToObj(i -> i % 5 == 0 ? "null" : range(i % 3))
            .collect(Collectors.joining(",", ", \"filters\": [", "]"));
    assertSameHits(
        standard(index, queries, 7, 50, members, ""),
        hits(batch("filtered/_vamana/search", queries, 7, 50, filters)));

    String similarity = ", \"similarity\": 9.5";
    List<Object> near = standard(index, queries, 10, 100, i -> similarity, "");
    assertSameHits(near, hits(batch("filtered/_vamana/search", queries, 10, 100, similarity)));
    Set<Object> totals = new HashSet<>();
    near.forEach(hits -> totals.add(NodeClient.at(hits, "total", "value")));
    assertTrue(totals.toString(), totals.size() > 1);

    first
        .client()
        .post(
            "/_aliases",
            """
            {"actions": [{"add": {"index": "filtered", "alias": "reds",
             "filter": {"term": {"color": "red"}}, "routing": "a"}}]}
            """);
    TestIndex reds = new TestIndex(first.client(), "reds");
    List<Object> expected = standard(reds, queries, 10, 100, i -> "", "");
    Map<String, Object> found = batch("reds/_vamana/search", queries, 10, 100, "");
    assertSameHits(expected, hits(found));
    assertEquals(1, NodeClient.at(found, "_shards", "total"));
    assertEquals(expected.toString(), 10, NodeClient.at(expected.get(0), "total", "value"));
  }

  private static String range(int part) {
    return Json.of(
        """
        {"range": {"number": {"gte": %d, "lt": %d}}}\
        """,
        part * COUNT / 3, (part + 1) * COUNT / 3);
  }

  /** Returns the heap that ids of both nodes take. */
  private static long idBytes() throws IOException {
    Map<?, ?> nodes = (Map<?, ?>) first.client().get("/_vamana/nodes/stats/memory").get("nodes");
    long bytes = 0;
    for (Object node : nodes.values()) {
      bytes += ((Number) NodeClient.at(node, "memory", "ids", "used_in_bytes")).longValue();
    }
    return bytes;
  }

  private static List<Object> standardIds(TestIndex index, TestVectors queries) throws IOException {
    List<Object> all = new ArrayList<>();
    for (Object hits : standard(index, queries, 10, 60, i -> "", ", \"_source\": false")) {
      List<?> each = (List<?>) NodeClient.at(hits, "hits");
      all.add(each.stream().map(hit -> ((Map<?, ?>) hit).get("_id")).toList());
    }
    return all;
  }

  private static Object columns(TestIndex index, TestVectors queries) throws IOException {
    String path = index.name() + "/_vamana/search";
    return batch(path, queries, 10, 60, ", \"format\": \"columns\"").get("ids");
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  private static void await(Condition condition) throws Exception {
    long end = System.nanoTime() + 60_000_000_000L;
    while (condition.holds() == false) {
      assertTrue("it did not happen within a minute", System.nanoTime() < end);
      Thread.sleep(10);
    }
  }

  @Test
  public void testIdsThatAreKept() throws Exception {
    TestVectors vectors = TestVectors.random(COUNT, DIMS, 17);
    TestVectors queries = TestVectors.random(QUERIES, DIMS, 18);
    TestIndex index = index("ids", "", "float", "l2_norm", vectors);
    long before = idBytes();
    List<Object> expected = standardIds(index, queries);
    await(
        () -> {
          assertEquals(expected, columns(index, queries));
          return idBytes() > before;
        });
    assertEquals(expected, columns(index, queries));
    Object nearest = NodeClient.at(expected.get(0), 0);
    first.client().delete("/" + index.name() + "/_doc/" + nearest + "?refresh=true");
    // another document in another segment
    index.index(COUNT, COUNT + 1, doc -> source(vectors, 0));
    assertEquals(standardIds(index, queries), columns(index, queries));
    long kept = idBytes();
    first.client().delete("/" + index.name());
    await(() -> idBytes() < kept);
  }

  @Test
  public void testProgressAndCancellation() throws Exception {
    TestVectors vectors = TestVectors.random(COUNT, DIMS, 11);
    TestVectors queries = TestVectors.random(MANY, DIMS, 12);
    index("slow", ", \"index.number_of_shards\": 2", "float", "l2_norm", vectors);
    String filters =
        IntStream.range(0, MANY)
            .mapToObj(i -> Json.of("{\"range\": {\"number\": {\"gte\": %d}}}", i % 500))
            .collect(Collectors.joining(",", "{\"field\": \"v\", \"k\": 50, \"filters\": [", "]"));
    String body =
        IntStream.range(0, MANY)
            .mapToObj(i -> TestVectors.json(queries.vector(i)))
            .collect(Collectors.joining(",", filters + ", \"query_vectors\": [", "]}"));
    FutureTask<NodeClient.Response> request =
        new FutureTask<>(
            () -> second.client().send("POST", "/slow/_vamana/search", body, "application/json"));
    Thread thread = new Thread(request, "slow request");
    thread.start();
    Map.Entry<?, ?> task = null;
    while (task == null && request.isDone() == false) {
      task = coordinating(first.client().get("/_tasks?detailed&actions=" + ACTION));
    }
    assertTrue("the request ended before it was seen", task != null);
    Object status = NodeClient.at(task.getValue(), "status");
    assertEquals(MANY, NodeClient.at(status, "vectors"));
    assertEquals(2, NodeClient.at(status, "shards"));
    assertEquals(2 * MANY, NodeClient.at(status, "total"));
    first.client().post("/_tasks/" + task.getKey() + "/_cancel?wait_for_completion=true", null);
    NodeClient.Response response = request.get();
    assertEquals(response.body(), 400, response.status());
    assertTrue(response.body(), response.body().contains("task_cancelled_exception"));
    assertEquals(Map.of(), first.client().get("/_tasks?actions=" + ACTION + "*").get("nodes"));
    assertNothingOpen("slow");
  }

  /** The task of a request that has begun to search, by its id; null if there is none. */
  private static Map.Entry<?, ?> coordinating(Map<String, Object> tasks) {
    for (Object node : ((Map<?, ?>) tasks.get("nodes")).values()) {
      for (Map.Entry<?, ?> task : ((Map<?, ?>) NodeClient.at(node, "tasks")).entrySet()) {
        Object done = NodeClient.at(task.getValue(), "status", "done");
        Object total = NodeClient.at(task.getValue(), "status", "total");
        if (((Number) total).longValue() > 0 && ((Number) done).longValue() >= 0) {
          return task;
        }
      }
    }
    return null;
  }

  /** Each vector is a query of every shard in the statistics of its index. */
  @Test
  public void testVectorsAreCountedAsQueries() throws Exception {
    TestVectors vectors = TestVectors.random(COUNT, DIMS, 13);
    TestVectors queries = TestVectors.random(QUERIES, DIMS, 14);
    index("counted", ", \"index.number_of_shards\": 2", "float", "l2_norm", vectors);
    assertEquals(0, searchStatistic("counted", "query_total"));
    batch("counted/_vamana/search", queries, 5, 50, "");
    assertEquals(2 * QUERIES, searchStatistic("counted", "query_total"));
    batch("counted/_vamana/search?format=columns", queries, 5, 50, "");
    assertEquals(4 * QUERIES, searchStatistic("counted", "query_total"));
    assertEquals(0, searchStatistic("counted", "query_failure"));
    assertNothingOpenAfterAnswers("counted");
  }

  private static int searchStatistic(String index, String name) throws IOException {
    Map<String, Object> stats = first.client().get("/" + index + "/_stats/search");
    return (Integer) NodeClient.at(stats, "_all", "total", "search", name);
  }

  private static void assertNothingOpen(String index) throws IOException {
    assertEquals(0, searchStatistic(index, "open_contexts"));
    assertEquals(0, searchStatistic(index, "query_current"));
    assertEquals(0, requestBytes());
  }

  /**
   * A node gives memory of an answer back after it has sent the last byte, which the client may
   * have.
   */
  private static void assertNothingOpenAfterAnswers(String index) throws Exception {
    await(() -> requestBytes() == 0);
    assertNothingOpen(index);
  }

  private static long requestBytes() throws IOException {
    Map<?, ?> nodes = (Map<?, ?>) first.client().get("/_nodes/stats/breaker").get("nodes");
    long bytes = 0;
    for (Object node : nodes.values()) {
      bytes +=
          ((Number) NodeClient.at(node, "breakers", "request", "estimated_size_in_bytes"))
              .longValue();
    }
    return bytes;
  }
}
