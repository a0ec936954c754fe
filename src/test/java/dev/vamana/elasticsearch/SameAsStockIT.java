package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/**
 * Requests to an index of ours and to a stock index of the same node, which holds the same
 * documents and is asked for all of them as candidates: the answers are equal. {@code
 * docs/operators/compatibility.md} lists the requests.
 */
public class SameAsStockIT {
  private static final int DIMS = 16;
  private static final int COUNT = 400;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 7);
  private static final String QUERY = TestVectors.json(TestVectors.random(1, DIMS, 8).vector(0));
  private static final String KNN =
      Json.of(
          "\"field\": \"v\", \"query_vector\": %s, \"k\": 20, \"num_candidates\": %d",
          QUERY, COUNT);
  private static final String SECTION = "\"knn\": {" + KNN + "}";
  private static final String CLAUSE = "{\"knn\": {" + KNN + "}}";
  private static final List<String> INDICES = List.of("ours", "stock");

  /** Members of answers that differ from one request to the next. */
  private static final Set<String> VOLATILE = Set.of("took", "_scroll_id", "pit_id", "index_uuid");

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static NodeClient client;

  @BeforeClass
  public static void fill() throws IOException {
    client = CLUSTER.first().client();
    fill("", "");
  }

  private static String mapping() {
    return """
        "color": {"type": "keyword"}, "price": {"type": "integer"}, "text": {"type": "text"},
        "w": {"type": "alias", "path": "v"},
        """
        + TestIndex.denseVector("v", "float", DIMS, "cosine", "hnsw");
  }

  /** Makes an index of each kind, with deleted documents, in several segments of two shards. */
  private static void fill(String suffix, String settings) throws IOException {
    for (String name : INDICES) {
      String own = name.equals("ours") ? TestIndex.VAMANA + ", " : "";
      TestIndex index =
          TestIndex.create(
              client, name + suffix, own + "\"index.number_of_shards\": 2" + settings, mapping());
      for (int from = 0; from < COUNT; from += COUNT / 2) {
        index.index(from, from + COUNT / 2, SameAsStockIT::source);
      }
      index.delete(0, COUNT, doc -> doc % 10 == 3);
      index.assertSegmentsInOurFormat(name.equals("ours"));
    }
  }

  private static String source(int doc) {
    return Json.of(
        "{\"v\": %s, \"color\": \"%s\", \"price\": %d, \"text\": \"%s\"}",
        VECTORS.json(doc),
        List.of("red", "green", "blue").get(doc % 3),
        doc % 17,
        doc % 2 == 0 ? "even" : "odd");
  }

  /** Without what differs between any two requests or names the index. */
  private static Object comparable(Object json) {
    if (json instanceof Map<?, ?> map) {
      Map<String, Object> kept = new TreeMap<>();
      map.forEach(
          (key, value) -> {
            if (VOLATILE.contains(key) == false) {
              kept.put(name((String) key), comparable(value));
            }
          });
      return kept;
    }
    if (json instanceof List<?> list) {
      return list.stream().map(SameAsStockIT::comparable).toList();
    }
    // the two formats may add the products of a vector in another order
    return json instanceof Double number
        ? (Object) (double) (float) (Math.round(number * 1e5) / 1e5)
        : json instanceof String text ? name(text) : json;
  }

  private static String name(String text) {
    return text.replace("ours", "stock");
  }

  /** Asserts that both indices answer alike, and returns the answer of ours. */
  private static Map<String, Object> assertSame(String method, String path, String body)
      throws IOException {
    List<NodeClient.Response> answers = new ArrayList<>();
    for (String index : INDICES) {
      answers.add(
          client.send(
              method,
              path.replace("INDEX", index),
              body == null ? null : body.replace("INDEX", index),
              "application/json"));
    }
    String ours = answers.get(0).body();
    assertEquals(ours, answers.get(1).status(), answers.get(0).status());
    assertEquals(
        path + " " + body, comparable(answers.get(1).json()), comparable(answers.get(0).json()));
    return answers.get(0).json();
  }

  @Test
  public void testSearches() throws IOException {
    for (String body :
        List.of(
            "{" + SECTION + "}",
            "{\"query\": " + CLAUSE + "}",
            "{\"retriever\": {\"knn\": {" + KNN + "}}}",
            "{\"retriever\": {\"standard\": {\"query\": " + CLAUSE + "}}}",
            "{" + SECTION.replace("\"v\"", "\"w\"") + "}",
            "{" + SECTION + ", \"query\": {\"match\": {\"text\": \"odd\"}}}",
            "{" + SECTION.replace("}", ", \"similarity\": 0.2}") + "}",
            "{"
                + SECTION.replace("}", ", \"boost\": 2}")
                + ", \"query\": {\"constant_score\": {\"boost\": 3, \"filter\": {\"term\": {\"price\": 3}}}}}",
            "{\"knn\": [{"
                + KNN
                + "}, {"
                + KNN.replace("\"v\"", "\"w\"").replace("\"k\": 20", "\"k\": 5")
                + ", \"boost\": 0.5}]}",
            "{" + SECTION + ", \"explain\": true}",
            "{" + SECTION + ", \"collapse\": {\"field\": \"color\"}}",
            "{"
                + SECTION
                + ", \"aggs\": {\"c\": {\"terms\": {\"field\": \"color\"}, \"aggs\":"
                + " {\"p\": {\"avg\": {\"field\": \"price\"}}}}}}",
            "{"
                + SECTION
                + ", \"sort\": [{\"price\": \"asc\"}, {\"color\": \"asc\"},"
                + " \"_score\"]}",
            "{" + SECTION + ", \"fields\": [\"v\", \"price\"], \"_source\": false}",
            "{" + SECTION + ", \"post_filter\": {\"term\": {\"color\": \"red\"}}}",
            "{" + SECTION + ", \"min_score\": 0.5, \"track_total_hits\": true}",
            "{\"query\": {\"bool\": {\"should\": ["
                + CLAUSE
                + ", {\"term\": {\"price\": 3}}],"
                + " \"must_not\": {\"term\": {\"color\": \"blue\"}}}}}",
            "{\"query\": {\"constant_score\": {\"filter\": "
                + CLAUSE
                + "}}, \"sort\":"
                + " [\"price\", \"_score\"], \"size\": 3}",
            "{\"query\": {\"function_score\": {\"query\": "
                + CLAUSE
                + ", \"field_value_factor\":"
                + " {\"field\": \"price\"}}}}",
            "{\"query\": {\"exists\": {\"field\": \"v\"}}, \"sort\": [\"price\", \"color\"],"
                + " \"size\": 0, \"aggs\": {\"n\": {\"value_count\": {\"field\": \"price\"}}}}",
            "{"
                + SECTION
                + ", \"rescore\": {\"window_size\": 20, \"query\": {\"rescore_query\":"
                + " {\"match\": {\"text\": \"even\"}}}}}")) {
      Map<String, Object> answer = assertSame("POST", "/INDEX/_search", body);
      assertEquals(body, null, answer.get("error"));
    }
  }

  @Test
  public void testErrors() throws IOException {
    for (String body :
        List.of(
            "{\"knn\": {\"field\": \"v\", \"query_vector\": [1, 2], \"k\": 5}}",
            "{\"knn\": {\"field\": \"price\", \"query_vector\": [1, 2], \"k\": 5}}",
            "{" + SECTION.replace("\"k\": 20", "\"k\": 20000") + "}",
            "{\"retriever\": {\"rrf\": {}}}")) {
      Map<String, Object> answer = assertSame("POST", "/INDEX/_search", body);
      assertNotEquals(body, null, answer.get("error"));
    }
  }

  @Test
  public void testRequestsAboutOneDocumentOrTheIndex() throws IOException {
    assertSame("GET", "/INDEX/_explain/5", "{\"query\": " + CLAUSE + "}");
    assertSame("GET", "/INDEX/_explain/13", "{\"query\": " + CLAUSE + "}");
    assertSame("GET", "/INDEX/_doc/5", null);
    assertSame("GET", "/INDEX/_doc/13", null);
    assertSame("GET", "/INDEX/_field_caps?fields=*", null);
    assertSame("POST", "/INDEX/_count", "{\"query\": " + CLAUSE + "}");
    assertSame("GET", "/INDEX/_validate/query?explain=false", "{\"query\": " + CLAUSE + "}");
    Map<String, Object> usage = client.post("/ours/_disk_usage?run_expensive_tasks=true", null);
    Object bytes = NodeClient.at(usage, "ours", "fields", "v", "knn_vectors_in_bytes");
    assertTrue(
        usage.toString(), ((Number) bytes).longValue() > COUNT * 9 / 10 * DIMS * Float.BYTES);
  }

  /** The profile of ours has the members of the stock index's. */
  @Test
  public void testProfile() throws IOException {
    List<Object> members = new ArrayList<>();
    for (String index : INDICES) {
      Map<String, Object> answer =
          client.post("/" + index + "/_search", "{" + SECTION + ", \"profile\": true}");
      Object knn = NodeClient.at(answer, "profile", "shards", 0, "dfs", "knn", 0);
      members.add(new TreeMap<>((Map<?, ?>) knn).keySet());
    }
    assertEquals(members.get(1), members.get(0));
  }

  @Test
  public void testScroll() throws IOException {
    List<Object> pages = new ArrayList<>();
    for (String index : INDICES) {
      List<Object> all = new ArrayList<>();
      Map<String, Object> page =
          client.post(
              "/" + index + "/_search?scroll=1m", "{\"query\": " + CLAUSE + ", \"size\": 7}");
      while (Answers.hits(page).isEmpty() == false) {
        all.add(comparable(Answers.hits(page)));
        page =
            client.post(
                "/_search/scroll",
                Json.of("{\"scroll\": \"1m\", \"scroll_id\": \"%s\"}", page.get("_scroll_id")));
      }
      client.send(
          "DELETE",
          "/_search/scroll",
          Json.of("{\"scroll_id\": \"%s\"}", page.get("_scroll_id")),
          "application/json");
      pages.add(all);
    }
    assertEquals(pages.get(1), pages.get(0));
  }

  @Test
  public void testPointInTimeWithSearchAfter() throws IOException {
    List<Object> pages = new ArrayList<>();
    for (String index : INDICES) {
      Object id = client.post("/" + index + "/_pit?keep_alive=1m", null).get("id");
      List<Object> all = new ArrayList<>();
      String after = "";
      List<?> hits;
      do {
        Map<String, Object> page =
            client.post(
                "/_search",
                Json.of(
                    """
                    {"query": %s, "size": 6, "sort": [{"price": "asc"}, {"_shard_doc": "asc"}],
                     "track_scores": true, "pit": {"id": "%s"}%s}
                    """,
                    CLAUSE, id, after));
        hits = Answers.hits(page);
        if (hits.isEmpty() == false) {
          after = ", \"search_after\": " + NodeClient.at(hits.get(hits.size() - 1), "sort");
          hits.forEach(hit -> all.add(comparable(Map.of("_id", NodeClient.at(hit, "_id")))));
        }
      } while (hits.isEmpty() == false);
      client.send("DELETE", "/_pit", Json.of("{\"id\": \"%s\"}", id), "application/json");
      assertEquals(40, all.size());
      pages.add(all);
    }
    assertEquals(pages.get(1), pages.get(0));
  }

  @Test
  public void testAliasesWithFiltersAndRouting() throws IOException {
    client.post(
        "/_aliases",
        """
        {"actions": [
          {"add": {"index": "ours", "alias": "reds-ours", "routing": "5",
                   "filter": {"term": {"color": "red"}}}},
          {"add": {"index": "stock", "alias": "reds-stock", "routing": "5",
                   "filter": {"term": {"color": "red"}}}}]}
        """);
    assertSame("POST", "/reds-INDEX/_search", "{" + SECTION + "}");
    assertSame("POST", "/reds-INDEX/_search", "{\"query\": " + CLAUSE + "}");
  }

  @Test
  public void testSortedIndexWithDeletedDocuments() throws IOException {
    fill("-sorted", ", \"index.sort.field\": [\"color\", \"price\"]");
    assertSame("POST", "/INDEX-sorted/_search", "{" + SECTION + "}");
    for (String index : INDICES) {
      new TestIndex(client, index + "-sorted").forceMerge();
    }
    assertSame("POST", "/INDEX-sorted/_search", "{" + SECTION + "}");
    client.delete("/ours-sorted,stock-sorted");
  }

  @Test
  public void testSyntheticSource() throws IOException {
    fill("-synthetic", ", \"index.mapping.source.mode\": \"synthetic\"");
    assertSame("POST", "/INDEX-synthetic/_search", "{" + SECTION + "}");
    assertSame("GET", "/INDEX-synthetic/_doc/5", null);
    client.delete("/ours-synthetic,stock-synthetic");
  }

  /** A template opts in, and each index that a rollover makes is like the first. */
  @Test
  public void testRolloverWithAnIndexTemplate() throws IOException {
    for (String kind : INDICES) {
      client.put(
          "/_index_template/" + kind + "-rolling",
          Json.of(
              """
              {"index_patterns": ["%s-rolling-*"],
               "template": {"settings": {"index.number_of_replicas": 0%s},
                            "mappings": {"properties": {%s}}}}
              """,
              kind, kind.equals("ours") ? ", " + TestIndex.VAMANA : "", mapping()));
      client.put(
          "/" + kind + "-rolling-000001",
          Json.of("{\"aliases\": {\"%s-rolling\": {\"is_write_index\": true}}}", kind));
      TestIndex alias = new TestIndex(client, kind + "-rolling");
      alias.index(0, 50, SameAsStockIT::source);
      Map<String, Object> rolled =
          client.post("/" + kind + "-rolling/_rollover", "{\"conditions\": {\"max_docs\": 10}}");
      assertEquals(rolled.toString(), true, rolled.get("rolled_over"));
      alias.index(50, 100, SameAsStockIT::source);
      for (int part = 1; part <= 2; part++) {
        new TestIndex(client, kind + "-rolling-00000" + part)
            .assertSegmentsInOurFormat(kind.equals("ours"));
      }
    }
    assertSame("POST", "/INDEX-rolling/_search", "{" + SECTION + "}");
    client.delete("/_index_template/ours-rolling,stock-rolling");
  }

  @Test
  public void testUpdateOfIndexOptions() throws IOException {
    fill("-updated", "");
    String options =
        Json.of(
            "{\"properties\": {%s}}",
            TestIndex.denseVector("v", "float", DIMS, "cosine", "int8_hnsw"));
    assertSame("PUT", "/INDEX-updated/_mapping", options);
    String wrong = options.replace("cosine", "l2_norm");
    assertSame("PUT", "/INDEX-updated/_mapping", wrong);
    for (String index : INDICES) {
      new TestIndex(client, index + "-updated")
          .index(COUNT, COUNT + 20, doc -> source(doc % COUNT));
    }
    new TestIndex(client, "ours-updated").assertSegmentsInOurFormat(true);
    assertEquals(
        20,
        Answers.hits(client.post("/ours-updated/_search", "{" + SECTION + ", \"size\": 20}"))
            .size());
    client.delete("/ours-updated,stock-updated");
  }
}
