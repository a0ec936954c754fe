package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;

/** The nearest documents of every document, written to an index. */
public class NeighborsIT {
  private static final int DIMS = 16;
  private static final int COUNT = 900;
  private static final int K = 10;
  private static final IntPredicate LIVE = doc -> doc % 7 != 3;
  private static final String THREE_SHARDS =
      TestIndex.VAMANA + ", \"index.number_of_shards\": 3, \"index.number_of_replicas\": 0";

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private NodeClient client;

  @Before
  public void takeClient() {
    client = CLUSTER.first().client();
  }

  /** The neighbours that were written for a document. */
  private record Neighbors(List<Integer> docs, List<Double> scores) {}

  private TestIndex filled(
      String name, String settings, String properties, TestVectors vectors, IntPredicate live)
      throws IOException {
    TestIndex index =
        TestIndex.create(
            client, name, settings, "\"even\": {\"type\": \"boolean\"}, " + properties);
    int half = vectors.count() / 2;
    index.index(0, half, doc -> source(vectors, doc));
    index.index(half, vectors.count(), doc -> source(vectors, doc));
    if (IntStream.range(0, vectors.count()).allMatch(live) == false) {
      index.delete(0, vectors.count(), live.negate());
    }
    return index;
  }

  private static String source(TestVectors vectors, int doc) {
    return Json.of(
        """
        {"v": %s, "even": %b}\
        """,
        vectors.json(doc), doc % 2 == 0);
  }

  private static String vector(String type, String similarity) {
    return TestIndex.denseVector("v", type, DIMS, similarity, "hnsw");
  }

  private Map<String, Object> run(String index, String dest, String options) throws IOException {
    return client.post("/" + index + "/_vamana/neighbors?refresh=true", body(dest, options));
  }

  private static String body(String dest, String options) {
    return Json.of(
        """
        {"field": "v", "k": %d, "dest": {"index": "%s"}%s}
        """,
        K, dest, options.isEmpty() ? "" : ", " + options);
  }

  private Map<Integer, Neighbors> written(String dest) throws IOException {
    Map<Integer, Neighbors> written = new HashMap<>();
    Map<String, Object> answer = client.post("/" + dest + "/_search", "{\"size\": 10000}");
    for (Object hit : Answers.hits(answer)) {
      List<Integer> docs = new ArrayList<>();
      List<Double> scores = new ArrayList<>();
      Object found = NodeClient.at(hit, "_source", "neighbors");
      ((List<?>) NodeClient.at(found, "ids"))
          .forEach(id -> docs.add(Integer.parseInt((String) id)));
      ((List<?>) NodeClient.at(found, "scores"))
          .forEach(score -> scores.add(((Number) score).doubleValue()));
      written.put(Answers.doc(hit), new Neighbors(docs, scores));
    }
    return written;
  }

  /**
   * Checks that each accepted document has neighbours other than itself with right scores, best
   * first; returns the share of the nearest ones among them.
   */
  private static double recall(
      Map<Integer, Neighbors> written,
      TestVectors vectors,
      Similarity similarity,
      IntPredicate sources,
      IntPredicate accepted) {
    double good = 0;
    double all = 0;
    Set<Integer> expected = new HashSet<>();
    for (int doc = 0; doc < vectors.count(); doc++) {
      if (sources.test(doc) == false) {
        continue;
      }
      expected.add(doc);
      int self = doc;
      Map<Integer, Double> scores =
          vectors.scores(
              vectors.vector(doc), similarity, other -> accepted.test(other) && other != self);
      List<Double> best = new ArrayList<>(TestVectors.best(scores, K).values());
      Neighbors own = written.get(doc);
      assertNotNull("document " + doc, own);
      assertEquals("neighbours of " + doc, best.size(), own.docs().size());
      assertEquals("a neighbour twice", own.docs().size(), new HashSet<>(own.docs()).size());
      double worst = best.get(best.size() - 1) * (1 - 1e-5);
      double before = Double.POSITIVE_INFINITY;
      for (int i = 0; i < own.docs().size(); i++) {
        Double right = scores.get(own.docs().get(i));
        assertNotNull("neighbour " + own.docs().get(i) + " of " + doc, right);
        assertEquals(right, own.scores().get(i), right * 1e-5);
        assertTrue(own.toString(), own.scores().get(i) <= before);
        before = own.scores().get(i);
        good += right >= worst ? 1 : 0;
      }
      all += best.size();
    }
    assertEquals(expected, written.keySet());
    return good / all;
  }

  private static void assertCounts(
      Map<String, Object> answer, int total, int created, int updated, int skipped) {
    assertEquals(answer.toString(), total, answer.get("total"));
    assertEquals(answer.toString(), created, answer.get("created"));
    assertEquals(answer.toString(), updated, answer.get("updated"));
    assertEquals(answer.toString(), skipped, answer.get("noops"));
  }

  private static int live(int count) {
    int live = 0;
    for (int doc = 0; doc < count; doc++) {
      live += LIVE.test(doc) ? 1 : 0;
    }
    return live;
  }

  @Test
  public void testGraphOverSeveralShards() throws IOException {
    TestVectors vectors = TestVectors.clustered(COUNT, DIMS, 10, 5);
    filled("sharded", THREE_SHARDS, vector("float", "l2_norm"), vectors, LIVE);
    int live = live(COUNT);
    String batches = "\"batch_size\": 100, \"slices\": 1, ";
    Map<String, Object> walked =
        run("sharded", "sharded-walked", batches + "\"num_candidates\": 100");
    assertCounts(walked, live, live, 0, 0);
    assertEquals((live + 99) / 100, walked.get("batches"));
    double recall = recall(written("sharded-walked"), vectors, Similarity.L2_NORM, LIVE, LIVE);
    assertTrue("recall " + recall, recall >= 0.95);

    for (int slices : new int[] {1, 2, 5}) {
      String dest = "sharded-exact-" + slices;
      String options = "\"method\": \"exact\", \"batch_size\": 10, \"slices\": " + slices;
      assertCounts(run("sharded", dest, options), live, live, 0, 0);
      assertEquals(1, recall(written(dest), vectors, Similarity.L2_NORM, LIVE, LIVE), 0);
    }
  }

  /** Vectors are read from the index, whether documents have a source or not. */
  @Test
  public void testElementTypesAndSources() throws IOException {
    for (String type : List.of("float", "byte", "bfloat16")) {
      TestVectors vectors =
          type.equals("byte")
              ? TestVectors.randomBytes(200, DIMS, 7)
              : TestVectors.random(200, DIMS, 7);
      for (Similarity similarity : List.of(Similarity.COSINE, Similarity.L2_NORM)) {
        String name = "of-" + type + "-" + similarity.name().toLowerCase(Locale.ROOT);
        String mapping = vector(type, similarity.name().toLowerCase(Locale.ROOT));
        client.put(
            "/" + name,
            Json.of(
                """
                {"settings": {"index.number_of_replicas": 0, %s},
                 "mappings": {"_source": {"enabled": %b}, "properties": {%s}}}
                """,
                TestIndex.VAMANA, similarity == Similarity.COSINE, mapping));
        new TestIndex(client, name).index(0, vectors.count(), doc -> source(vectors, doc));
        run(name, name + "-graph", "\"num_candidates\": 1000");
        double recall = recall(written(name + "-graph"), vectors, similarity, d -> true, d -> true);
        assertTrue(name + " " + recall, recall >= 0.95);
      }
    }
  }

  @Test
  public void testQueryFilterAndSimilarity() throws IOException {
    TestVectors vectors = TestVectors.clustered(400, DIMS, 10, 9);
    filled("chosen", TestIndex.VAMANA, vector("float", "l2_norm"), vectors, doc -> true);
    IntPredicate even = doc -> doc % 2 == 0;
    for (String method : List.of("\"num_candidates\": 400", "\"method\": \"exact\"")) {
      String dest = method.contains("exact") ? "chosen-exact" : "chosen-walked";
      run(
          "chosen",
          dest,
          method
              + ", \"query\": {\"term\": {\"even\": false}}, \"filter\": {\"term\": {\"even\": true}}");
      assertEquals(
          1, recall(written(dest), vectors, Similarity.L2_NORM, even.negate(), even), 0.02);

      run("chosen", dest + "-near", method + ", \"similarity\": 2.0");
      Map<Integer, Neighbors> near = written(dest + "-near");
      assertEquals(vectors.count(), near.size());
      for (int doc = 0; doc < vectors.count(); doc++) {
        int self = doc;
        Map<Integer, Double> scores =
            vectors.scores(vectors.vector(doc), Similarity.L2_NORM, other -> other != self);
        long within = scores.values().stream().filter(score -> score >= 1 / (1 + 2.0 * 2)).count();
        assertEquals(method + " " + doc, Math.min(K, within), near.get(doc).docs().size(), K / 5.0);
        assertTrue(near.get(doc).scores().stream().allMatch(score -> score >= 0.2 * (1 - 1e-5)));
      }
    }
  }

  /** A run that is cancelled says how far it came, and the next one goes on from there. */
  @Test
  public void testResumeAfterCancel() throws IOException {
    TestVectors vectors = TestVectors.clustered(3_000, DIMS, 10, 11);
    filled("large", TestIndex.VAMANA, vector("float", "l2_norm"), vectors, doc -> true);
    String options = "\"num_candidates\": 100";
    Map<String, Object> started =
        client.post(
            "/large/_vamana/neighbors?wait_for_completion=false",
            body("large-graph", options + ", \"batch_size\": 1, \"slices\": 3"));
    String task = "/_tasks/" + started.get("task");
    int created = 0;
    while (created < 20) {
      Map<String, Object> progress = client.get(task);
      assertEquals(progress.toString(), false, progress.get("completed"));
      assertEquals("indices:data/read/vamana/neighbors", NodeClient.at(progress, "task", "action"));
      created = ((Number) NodeClient.at(progress, "task", "status", "created")).intValue();
      if (created > 0) {
        assertEquals(3_000, NodeClient.at(progress, "task", "status", "total"));
      }
    }
    client.post(task + "/_cancel?wait_for_completion=true", null);
    Map<String, Object> ended = client.get(task + "?wait_for_completion=true&timeout=60s");
    Object response = ended.get("response");
    assertNotNull(ended.toString(), response);
    // a search of the run that is cancelled first names the run as its parent
    String reason = (String) NodeClient.at(response, "canceled");
    assertTrue(ended.toString(), reason.contains("by user request"));
    int before = ((Number) NodeClient.at(response, "created")).intValue();
    assertTrue(ended.toString(), before >= created && before < 3_000);

    Map<String, Object> resumed = run("large", "large-graph", options + ", \"resume\": true");
    int skipped = ((Number) resumed.get("noops")).intValue();
    assertTrue(resumed.toString(), skipped >= before && skipped < 3_000);
    assertCounts(resumed, 3_000, 3_000 - skipped, 0, skipped);
    assertFalse(resumed.toString(), resumed.containsKey("canceled"));
    double recall =
        recall(written("large-graph"), vectors, Similarity.L2_NORM, doc -> true, doc -> true);
    assertTrue("recall " + recall, recall >= 0.95);
    assertCounts(run("large", "large-graph", options + ", \"resume\": true"), 3_000, 0, 0, 3_000);
  }

  /** A run that hardly moves goes on at once when its pace is changed, and ends when cancelled. */
  @Test
  public void testPace() throws IOException {
    TestVectors vectors = TestVectors.random(60, DIMS, 15);
    filled("slow", TestIndex.VAMANA, vector("float", "l2_norm"), vectors, doc -> true);
    String body = body("slow-graph", "\"batch_size\": 10, \"slices\": 3");
    String path = "/slow/_vamana/neighbors?wait_for_completion=false&requests_per_second=";
    String task = (String) client.post(path + "0.001", body).get("task");
    long waits = 0;
    while (waits == 0) {
      Map<String, Object> progress = client.get("/_tasks/" + task);
      assertEquals(progress.toString(), false, progress.get("completed"));
      Object status = NodeClient.at(progress, "task", "status");
      waits = ((Number) NodeClient.at(status, "throttled_until_millis")).longValue();
    }
    Map<String, Object> changed =
        client.post("/_vamana/neighbors/" + task + "/_rethrottle?requests_per_second=-1", null);
    Number pace = (Number) NodeClient.at(changed, "tasks", 0, "status", "requests_per_second");
    assertEquals(-1, pace.intValue());
    Map<String, Object> ended =
        client.get("/_tasks/" + task + "?wait_for_completion=true&timeout=60s");
    assertEquals(ended.toString(), 60, NodeClient.at(ended, "response", "created"));

    String stopped = (String) client.post(path + "0.001", body).get("task");
    client.post("/_tasks/" + stopped + "/_cancel?wait_for_completion=true", null);
    Map<String, Object> cancelled =
        client.get("/_tasks/" + stopped + "?wait_for_completion=true&timeout=60s");
    String reason = (String) NodeClient.at(cancelled, "response", "canceled");
    assertTrue(cancelled.toString(), reason.contains("by user request"));
    for (String none : List.of("0", "-2", "fast", "NaN")) {
      NodeClient.Response refused = client.send("POST", path + none, body, "application/json");
      assertEquals(refused.body(), 400, refused.status());
      assertTrue(refused.body(), refused.body().contains("[requests_per_second] is [" + none));
    }
    NodeClient.Response missing =
        client.send(
            "POST",
            "/_vamana/neighbors/" + task + "/_rethrottle?requests_per_second=5",
            "",
            "application/json");
    assertEquals(missing.body(), 404, missing.status());
  }

  /** Only searchable documents take part; a run without resume writes all of them again. */
  @Test
  public void testChangesOfTheIndex() throws IOException {
    TestVectors vectors = TestVectors.random(60, DIMS, 13);
    TestIndex index =
        filled("changed", TestIndex.VAMANA, vector("float", "l2_norm"), vectors, doc -> doc < 40);
    assertCounts(run("changed", "changed-graph", ""), 40, 40, 0, 0);
    client.put("/changed/_doc/50", source(vectors, 50));
    assertCounts(run("changed", "changed-graph", ""), 40, 0, 40, 0);
    client.post("/changed/_refresh", null);
    assertCounts(run("changed", "changed-graph", "\"resume\": true"), 41, 1, 0, 40);
    index.delete(0, 10, doc -> true);
    assertCounts(run("changed", "changed-graph", ""), 31, 0, 31, 0);
    Map<Integer, Neighbors> written = written("changed-graph");
    assertEquals("documents of deleted ones stay", 41, written.size());
    written.keySet().removeIf(doc -> doc < 10);
    IntPredicate now = doc -> (doc >= 10 && doc < 40) || doc == 50;
    assertEquals(1, recall(written, vectors, Similarity.L2_NORM, now, now), 0.02);

    client.put("/changed/_doc/51", "{\"even\": true}");
    client.put("/changed/_doc/52?refresh=true", source(vectors, 50));
    Map<String, Object> reverse =
        run("changed", "changed-graph", "\"query\": {\"ids\": {\"values\": [\"52\"]}}");
    assertCounts(reverse, 1, 1, 0, 0);
    assertEquals(
        "the nearest of a duplicate is the other",
        50,
        written("changed-graph").get(52).docs().get(0),
        0);
    Map<String, Object> found =
        client.post(
            "/changed-graph/_search", "{\"query\": {\"term\": {\"neighbors.ids\": \"50\"}}}");
    assertTrue(Answers.hits(found).stream().anyMatch(hit -> Answers.doc(hit) == 52));
  }

  @Test
  public void testAliasesAndEmptyIndices() throws IOException {
    TestVectors vectors = TestVectors.random(100, DIMS, 17);
    filled("behind", TestIndex.VAMANA, vector("float", "l2_norm"), vectors, doc -> true);
    client.post(
        "/_aliases",
        "{\"actions\": [{\"add\": {\"index\": \"behind\", \"alias\": \"evens\", "
            + "\"filter\": {\"term\": {\"even\": true}}}}]}");
    run("evens", "behind-graph", "\"num_candidates\": 200");
    IntPredicate even = doc -> doc % 2 == 0;
    assertEquals(1, recall(written("behind-graph"), vectors, Similarity.L2_NORM, even, even), 0.02);

    TestIndex.create(client, "empty", TestIndex.VAMANA, vector("float", "l2_norm"));
    assertCounts(run("empty", "empty-graph", ""), 0, 0, 0, 0);
    filled("single", TestIndex.VAMANA, vector("float", "l2_norm"), vectors, doc -> doc == 4);
    assertCounts(run("single", "single-graph", ""), 1, 1, 0, 0);
    assertEquals(List.of(), written("single-graph").get(4).docs());
  }

  /** A slice that fails ends the whole run; what was written stays. */
  @Test
  public void testFailingSlice() throws IOException {
    TestVectors vectors = TestVectors.random(600, DIMS, 19);
    filled("failing", TestIndex.VAMANA, vector("float", "l2_norm"), vectors, doc -> true);
    client.put(
        "/failing-graph",
        Json.of(
            """
            {"settings": {"index.number_of_replicas": 0},
             "mappings": {"properties": {"neighbors.ids": {"type": "byte"}}}}
            """));
    NodeClient.Response response =
        client.send(
            "POST",
            "/failing/_vamana/neighbors",
            body("failing-graph", "\"batch_size\": 1, \"slices\": 4"),
            "application/json");
    assertEquals(response.body(), 400, response.status());
    assertTrue(response.body(), response.body().contains("neighbors.ids"));
    client.post("/failing-graph/_refresh", null);
    int written = ((Number) client.get("/failing-graph/_count").get("count")).intValue();
    assertTrue(written + " written", written < 100);
    Map<String, Object> tasks = client.get("/_tasks?actions=*neighbors");
    assertFalse(tasks.toString(), tasks.toString().contains("vamana/neighbors"));

    String lenient = "\"dest\": {\"index\": \"failing-graph\", \"field\": \"near\"}";
    Map<String, Object> resumed =
        client.post(
            "/failing/_vamana/neighbors?refresh=true",
            "{\"field\": \"v\", \"resume\": true, " + lenient + "}");
    assertCounts(resumed, 600, 600 - written, 0, written);
  }

  @Test
  public void testRefused() throws IOException {
    TestIndex.create(
        client,
        "refusing",
        TestIndex.VAMANA,
        vector("float", "l2_norm")
            + ", \"text\": {\"type\": \"keyword\"}, \"parts\": {\"type\": \"nested\", \"properties\": {"
            + vector("float", "l2_norm")
            + "}}");
    TestIndex.create(client, "refusing-too", TestIndex.VAMANA, vector("float", "l2_norm"));
    String dest = "\"dest\": {\"index\": \"refused\"}";
    assertRefused("refusing", "{" + dest + "}", "[field] is missing");
    assertRefused("refusing", "{\"field\": \"v\"}", "[dest.index] is missing");
    assertRefused("refusing", "{\"field\": \"v\", \"dest\": \"x\"}", "[dest] is [x], allowed is");
    assertRefused(
        "refusing",
        "{\"field\": \"v\", \"dest\": {\"id\": 1}}",
        "unknown key [id], allowed are [index, field]");
    for (Map.Entry<String, String> bad :
        Map.of(
                "\"k\": 0", "[k] is [0], allowed is a whole number from 1 to 9999",
                "\"k\": 10000", "[k] is [10000], allowed is a whole number from 1 to 9999",
                "\"num_candidates\": 9", "[num_candidates] is [9], allowed is a whole number from",
                "\"batch_size\": 10001",
                    "[batch_size] is [10001], allowed is a whole number from 1",
                "\"slices\": 65", "[slices] is [65], allowed is a whole number from 1 to 64",
                "\"method\": \"guess\"", "[method] is [guess], allowed is [walk] or [exact]",
                "\"method\": \"exact\", \"num_candidates\": 50", "[num_candidates] is [50], but",
                "\"resume\": 1", "[resume] is [1], allowed is [true] or [false]",
                "\"similarity\": \"x\"", "[similarity] is [x], allowed is a number",
                "\"queries\": 3", "unknown key [queries], allowed are [field, k,")
            .entrySet()) {
      assertRefused(
          "refusing", "{\"field\": \"v\", " + dest + ", " + bad.getKey() + "}", bad.getValue());
    }
    assertRefused(
        "refusing", "{\"field\": \"w\", " + dest + "}", "[field] is [w], which no mapping has");
    assertRefused(
        "refusing",
        "{\"field\": \"text\", " + dest + "}",
        "[field] is [text], which is of type [keyword], allowed is a field of type [dense_vector]");
    assertRefused(
        "refusing",
        "{\"field\": \"parts.v\", " + dest + "}",
        "which belongs to the nested documents of [parts]");
    assertRefused("refusing*", "{\"field\": \"v\", " + dest + "}", "allowed is one index");
    assertRefused(
        "refusing",
        "{\"field\": \"v\", \"dest\": {\"index\": \"refusing\"}}",
        "[dest.index] is [refusing], whose documents would be overwritten");
    assertEquals(404, client.send("GET", "/refused", null, null).status());
    assertEquals(
        404,
        client
            .send("POST", "/none/_vamana/neighbors", body("refused", ""), "application/json")
            .status());
  }

  private void assertRefused(String index, String body, String reason) throws IOException {
    NodeClient.Response response =
        client.send("POST", "/" + index + "/_vamana/neighbors", body, "application/json");
    assertEquals(body + response.body(), 400, response.status());
    assertTrue(response.body(), response.body().contains(reason));
  }
}
