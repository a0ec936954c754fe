package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.monitor.openmetrics.MetricsText;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/** Statistics as OpenMetrics over HTTP: every route, who may ask in which way, and the numbers. */
public class OpenMetricsIT {
  private static final int DIMS = 16;
  private static final int COUNT = 200;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 5);
  private static final String METRICS = "?format=openmetrics";

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static NodeClient node;

  @BeforeClass
  public static void search() throws IOException {
    node = CLUSTER.first().client();
    TestIndex index =
        TestIndex.create(
            node,
            "photos",
            TestIndex.VAMANA,
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    for (int from = 0; from < COUNT; from += COUNT / 2) {
      index.index(from, from + COUNT / 2, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    }
    index.knn("v", VECTORS.vector(3), 5, 20);
  }

  @Test
  public void testTheNumbersAreThoseOfTheJson() throws IOException {
    MetricsText text = Scrape.assertSameAsJson(node, "/_vamana/stats");
    assertTrue(sum(text, "vamana_items_requested_total").signum() > 0);
    assertTrue(sum(text, "vamana_build_graphs_total").signum() > 0);
    assertTrue(sum(text, "vamana_memory_limit_bytes").signum() > 0);
  }

  private static BigDecimal sum(MetricsText text, String name) {
    return text.values(name, Map.of()).stream().reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  @Test
  public void testSearchesCount() throws IOException {
    MetricsText before = Scrape.assertSameAsJson(node, "/_vamana/_local/stats/executor");
    new TestIndex(node, "photos").knn("v", VECTORS.vector(9), 5, 20);
    MetricsText after = Scrape.assertSameAsJson(node, "/_vamana/_local/stats/executor");
    String name = "vamana_items_requested_total";
    // one query, two segments
    assertEquals(sum(before, name).add(BigDecimal.valueOf(2)), sum(after, name));
  }

  @Test
  public void testEveryRouteAndEveryScraper() throws IOException {
    for (String accept : List.of("*/*", "application/json", Scrape.ACCEPT[0], Scrape.ACCEPT[1])) {
      for (String path :
          List.of(
              "/_vamana/stats",
              "/_vamana/stats/state,memory",
              "/_vamana/_local/stats",
              "/_vamana/_local/stats/state",
              "/photos/_vamana/stats")) {
        HttpResponse<String> answer = Scrape.get(node, path + METRICS, accept);
        assertEquals(answer.body(), 200, answer.statusCode());
        assertEquals(
            List.of("application/openmetrics-text; version=1.0.0; charset=utf-8"),
            answer.headers().allValues("content-type"));
        assertTrue(path, MetricsText.parse(answer.body()).families().size() > 3);
      }
    }
  }

  @Test
  public void testOnlyTheAskedMetrics() throws IOException {
    String path = "/_vamana/stats/state" + METRICS;
    Set<String> families =
        new TreeSet<>(MetricsText.parse(Scrape.get(node, path, "*/*").body()).families().keySet());
    families.removeIf(name -> name.startsWith("vamana_gpu_contexts_"));
    assertEquals(
        Set.of(
            "vamana_nodes",
            "vamana_counting_since_seconds",
            "vamana_counted_until_seconds",
            "vamana_gpu",
            "vamana_gpu_state",
            "vamana_gpu_usable"),
        families);
  }

  @Test
  public void testOtherFormatsAreAsBefore() throws IOException {
    for (Map.Entry<String, String> format :
        Map.of(
                "", "application/json",
                "?format=json", "application/json",
                "?format=yaml", "application/yaml",
                "?format=smile", "application/smile",
                "?format=cbor", "application/cbor",
                "?format=OpenMetrics", "application/json",
                "?format=prometheus", "application/json")
            .entrySet()) {
      for (String path : List.of("/_vamana/stats/state", "/photos/_vamana/stats")) {
        HttpResponse<String> answer = Scrape.get(node, path + format.getKey(), "*/*");
        assertEquals(200, answer.statusCode());
        assertEquals(
            format.getKey(),
            List.of(format.getValue()),
            answer.headers().allValues("content-type"));
      }
    }
  }

  @Test
  public void testErrorsAreJson() throws IOException {
    for (String accept : Scrape.ACCEPT) {
      assertError(400, "illegal_argument_exception", "/_vamana/stats/gpus", accept);
      assertError(404, "resource_not_found_exception", "/_vamana/nobody/stats", accept);
      assertError(404, "index_not_found_exception", "/missing/_vamana/stats", accept);
    }
  }

  private static void assertError(int status, String type, String path, String accept)
      throws IOException {
    HttpResponse<String> answer = Scrape.get(node, path + METRICS, accept);
    assertEquals(answer.body(), status, answer.statusCode());
    assertTrue(answer.body(), answer.body().startsWith("{"));
    assertTrue(answer.body(), answer.body().contains(type));
  }

  @Test
  public void testSumsOfAnIndex() throws IOException {
    Map<String, Object> json = node.get("/photos/_vamana/stats");
    MetricsText text =
        MetricsText.parse(Scrape.get(node, "/photos/_vamana/stats" + METRICS, "*/*").body());
    Object field = NodeClient.at(json, "indices", "photos", "fields", "v");
    Map<String, String> labels = Map.of("index", "photos", "field", "v");
    assertEquals(
        List.of(number(json, "_shards", "successful")),
        text.values("vamana_index_shards", Map.of("result", "successful")));
    assertEquals(List.of(number(field, "vectors")), text.values("vamana_index_vectors", labels));
    assertEquals(
        List.of(number(field, "device_bytes")), text.values("vamana_index_device_bytes", labels));
    for (String part : List.of("vectors", "graph", "codes")) {
      assertEquals(
          List.of(number(field, "disk", part + "_bytes")),
          text.values(
              "vamana_index_disk_bytes", Map.of("index", "photos", "field", "v", "part", part)));
    }
    assertEquals(List.of(number(field, "segments")), text.values("vamana_index_segments", labels));
    assertEquals(
        ((Map<?, ?>) NodeClient.at(field, "states")).keySet(),
        Set.of(
            text.families().get("vamana_index_segments").samples().get(0).labels().get("state")));
  }

  private static BigDecimal number(Object json, Object... path) {
    return BigDecimal.valueOf(((Number) NodeClient.at(json, path)).longValue());
  }
}
