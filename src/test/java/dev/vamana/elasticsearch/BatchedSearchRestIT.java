package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentType;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** Batched searches over HTTP: forms of bodies and answers, lines, long bodies, limits. */
public class BatchedSearchRestIT {
  private static final int DIMS = 24;
  private static final int COUNT = 1500;
  private static final int QUERIES = 700;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 5);
  private static final TestVectors ASKED = TestVectors.random(QUERIES, DIMS, 6);
  private static final String PATH = "/photos/_vamana/search";
  private static final String JSON = "application/json";

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static RunningNode node;
  private static HttpClient http;

  @BeforeClass
  public static void startNode() throws IOException {
    node = CLUSTER.first();
    http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    TestIndex index =
        TestIndex.create(
            node.client(),
            "photos",
            TestIndex.VAMANA,
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.index(0, COUNT, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    index.forceMerge();
  }

  @AfterClass
  public static void closeClient() {
    if (http != null) {
      http.shutdownNow();
    }
  }

  /** Bodies above and below the length up to which the connection's thread reads them. */
  @Test
  public void testEveryFormOfVectorsGivesTheSameHits() throws Exception {
    for (int count : new int[] {3, QUERIES}) {
      List<?> numbers = (List<?>) columns(count, numbers(count)).get("ids");
      assertEquals(count, numbers.size());
      assertRecall(numbers);
      assertEquals(numbers, columns(count, "[" + rows(count) + "]").get("ids"));
      Map<String, Object> hits = json(send(JSON, body(numbers(count), "hits")));
      assertEquals(numbers, idsOfHits(hits));
    }
  }

  @Test
  public void testSlowLog() throws Exception {
    List<String> columns = slowLog(() -> columns(7, numbers(7)));
    assertEquals(columns.toString(), 1, columns.size());
    assertContains(
        columns.get(0),
        ".query ",
        "[photos][0]",
        "35 hits",
        "\"field\":\"v\"",
        "\"vectors\":7",
        "\"k\":5");
    List<String> hits = slowLog(() -> send(JSON, body(numbers(8), "hits")));
    assertEquals(hits.toString(), 2, hits.size());
    assertContains(hits.get(0), ".query ", "40 hits", "\"vectors\":8");
    assertContains(hits.get(1), ".fetch ", "\"field\":\"v\"", "\"vectors\":8", "\"k\":5");
  }

  private static void assertContains(String line, String... parts) {
    for (String part : parts) {
      assertTrue("no " + part + " in " + line, line.contains(part));
    }
  }

  /** The lines that a request leaves in the slow log. */
  private static List<String> slowLog(Callable<?> request) throws Exception {
    String settings =
        """
        {"index.search.slowlog.threshold.query.info": %1$s,
         "index.search.slowlog.threshold.fetch.info": %1$s}
        """;
    long before = node.log().lines().count();
    node.client().put("/photos/_settings", Json.of(settings, "\"0ms\""));
    request.call();
    node.client().put("/photos/_settings", Json.of(settings, "null"));
    return node.log()
        .lines()
        .skip(before)
        .filter(line -> line.contains("slowlog"))
        .map(line -> line.replace("\\", ""))
        .toList();
  }

  @Test
  public void testBinaryForms() throws Exception {
    List<?> expected = (List<?>) columns(QUERIES, numbers(QUERIES)).get("ids");
    for (XContentType type : List.of(XContentType.CBOR, XContentType.SMILE)) {
      try (XContentBuilder body = XContentBuilder.builder(type.xContent())) {
        body.startObject().field("field", "v").field("k", 5).field("num_candidates", 100);
        body.field("format", "columns").startArray("query_vectors");
        for (int i = 0; i < QUERIES; i++) {
          body.value(bytes(i));
        }
        body.endArray().endObject();
        HttpResponse<byte[]> answer =
            send(type.mediaType(), BytesReference.toBytes(BytesReference.bytes(body)), "");
        assertEquals(200, answer.statusCode());
        Map<String, Object> json =
            XContentHelper.convertToMap(
                type.xContent(), answer.body(), 0, answer.body().length, true);
        assertEquals(expected, json.get("ids"));
      }
    }
    HttpResponse<byte[]> yaml = send(JSON, body("[[" + zeros() + "]]", "columns"), "?format=yaml");
    assertTrue(text(yaml), text(yaml).startsWith("---\n"));
  }

  @Test
  public void testNoTimeAtAll() throws Exception {
    Map<String, Object> json = json(send(JSON, body(numbers(3), "columns"), "?timeout=0ms"));
    assertEquals(true, json.get("timed_out"));
    assertError(
        send(JSON, body(numbers(3), null), "?timeout=0ms&allow_partial_search_results=false"),
        429,
        "Time exceeded");
    assertEquals(false, json(send(JSON, body(numbers(3), null), "?timeout=10m")).get("timed_out"));
  }

  /** A client that leaves in the middle costs nothing but itself. */
  @Test
  public void testAClientThatLeaves() throws Exception {
    byte[] body = body(numbers(QUERIES), "hits").getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 3; i++) {
      try (HttpClient leaving = HttpClient.newHttpClient()) {
        for (int request = 0; request < 20; request++) {
          leaving.sendAsync(request(JSON, body, ""), BodyHandlers.ofByteArray());
        }
        Thread.sleep(300);
        leaving.shutdownNow();
      }
    }
    long deadline = System.nanoTime() + 120_000_000_000L;
    Map<?, ?> tasks;
    do {
      tasks =
          (Map<?, ?>)
              node.client().get("/_tasks?actions=*vamana/search*&group_by=parents").get("tasks");
    } while (tasks.isEmpty() == false && System.nanoTime() < deadline);
    assertEquals(Map.of(), tasks);
    assertEquals(QUERIES, ((List<?>) columns(QUERIES, numbers(QUERIES)).get("ids")).size());
  }

  @Test
  public void testRequestsThatAreNone() throws Exception {
    assertError(send(JSON, ""), 400, "body is required");
    assertError(send(JSON, body(numbers(1), "hits"), "?format=rows"), 400, "[rows]", "[columns]");
    assertError(send(JSON, body(numbers(1), "hits"), "?timeout=soon"), 400, "[soon]");
    assertError(send(JSON, body(numbers(1), "hits"), "?shape=1"), 400, "[shape]");
    assertError(send("text/plain", body(numbers(1), "hits"), ""), 406, "text/plain");
    String two = body(numbers(1), "hits") + "\n" + body(numbers(1), "hits");
    assertError(send("application/x-ndjson", two, ""), 400, "after its object");
    String unknown = "[[" + zeros() + ", 1]]";
    assertError(send(JSON, body(unknown, "columns")), 400, Integer.toString(DIMS + 1));
    NodeClient.Response get = node.client().send("GET", PATH, null, JSON);
    assertEquals(get.body(), 400, get.status());
    assertTrue(get.body(), get.body().contains("body is required"));
  }

  private static void assertRecall(List<?> ids) {
    double found = 0;
    for (int i = 0; i < ids.size(); i++) {
      List<Integer> nearest =
          VECTORS.scores(ASKED.vector(i), Similarity.L2_NORM, doc -> true).entrySet().stream()
              .sorted((a, b) -> Double.compare(b.getValue(), a.getValue()))
              .limit(5)
              .map(Map.Entry::getKey)
              .toList();
      for (Object id : (List<?>) ids.get(i)) {
        found += nearest.contains(Integer.parseInt((String) id)) ? 1 : 0;
      }
    }
    assertTrue("recall " + found / (5 * ids.size()), found / (5 * ids.size()) >= 0.9);
  }

  private static Map<String, Object> columns(int count, String vectors) throws Exception {
    Map<String, Object> json = json(send(JSON, body(vectors, "columns")));
    assertEquals(count, ((List<?>) json.get("scores")).size());
    return json;
  }

  private static List<Object> idsOfHits(Map<String, Object> json) {
    List<Object> ids = new ArrayList<>();
    for (Object response : (List<?>) json.get("responses")) {
      List<?> hits = (List<?>) NodeClient.at(response, "hits", "hits");
      ids.add(hits.stream().map(hit -> NodeClient.at(hit, "_id")).toList());
    }
    return ids;
  }

  private static String body(String vectors, String format) {
    return body(vectors, format, 100);
  }

  private static String body(String vectors, String format, int candidates) {
    return Json.of(
        """
        {"field": "v", "k": 5, "num_candidates": %d, "query_vectors": %s%s}\
        """,
        candidates, vectors, format == null ? "" : ", \"format\": \"" + format + "\"");
  }

  private static String zeros() {
    return String.join(", ", Collections.nCopies(DIMS, "0"));
  }

  private static String numbers(int count) {
    return numbers(0, count);
  }

  private static String numbers(int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(ASKED::json)
        .collect(Collectors.joining(",", "[", "]"));
  }

  private static String rows(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> '"' + base64(i) + '"')
        .collect(Collectors.joining(","));
  }

  private static String base64(int query) {
    return Base64.getEncoder().encodeToString(bytes(query));
  }

  private static byte[] bytes(int query) {
    ByteBuffer bytes = ByteBuffer.allocate(DIMS * Float.BYTES);
    for (float value : ASKED.vector(query)) {
      bytes.putFloat(value);
    }
    return bytes.array();
  }

  private static HttpRequest request(String type, byte[] body, String parameters) {
    return HttpRequest.newBuilder(node.httpUri().resolve(PATH + parameters))
        .header("Content-Type", type)
        .POST(BodyPublishers.ofByteArray(body))
        .build();
  }

  private static HttpResponse<byte[]> send(String type, byte[] body, String parameters)
      throws Exception {
    return http.send(request(type, body, parameters), BodyHandlers.ofByteArray());
  }

  private static HttpResponse<byte[]> send(String type, String body, String parameters)
      throws Exception {
    return send(type, body.getBytes(StandardCharsets.UTF_8), parameters);
  }

  private static HttpResponse<byte[]> send(String type, String body) throws Exception {
    return send(type, body, "");
  }

  private static String text(HttpResponse<byte[]> answer) {
    return new String(answer.body(), StandardCharsets.UTF_8);
  }

  private static Map<String, Object> json(HttpResponse<byte[]> answer) {
    assertEquals(text(answer), 200, answer.statusCode());
    return json(text(answer));
  }

  private static Map<String, Object> json(String text) {
    return XContentHelper.convertToMap(XContentType.JSON.xContent(), text, true);
  }

  private static void assertError(HttpResponse<byte[]> answer, int status, String... named) {
    String text = text(answer);
    assertEquals(text, status, answer.statusCode());
    for (String name : named) {
      assertTrue("no '" + name + "' in " + text, text.contains(name));
    }
  }
}
