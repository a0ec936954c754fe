package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.monitor.stats.MetricsPage;
import dev.vamana.elasticsearch.monitor.stats.MetricsText;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
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
    MetricsText text = Scrape.assertSameAsJson(node, "/_vamana/nodes/stats");
    assertTrue(sum(text, "vamana_executor_items_requested_total").signum() > 0);
    assertTrue(sum(text, "vamana_build_graphs_total").signum() > 0);
    assertTrue(sum(text, "vamana_memory_builds_limit_bytes").signum() > 0);
  }

  private static BigDecimal sum(MetricsText text, String name) {
    return text.values(name, Map.of()).stream().reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  @Test
  public void testEveryRouteAndEveryScraper() throws IOException {
    for (String accept : List.of("*/*", "application/json", Scrape.ACCEPT[0], Scrape.ACCEPT[1])) {
      for (String path :
          List.of(
              "/_vamana/nodes/stats",
              "/_vamana/nodes/stats/state,memory",
              "/_vamana/nodes/_local/stats",
              "/_vamana/nodes/_local/stats/state",
              "/photos/_vamana/stats")) {
        HttpResponse<String> answer = Scrape.get(node, path + METRICS, accept);
        assertEquals(answer.body(), 200, answer.statusCode());
        assertEquals(
            List.of("application/openmetrics-text; version=1.0.0; charset=utf-8"),
            answer.headers().allValues("content-type"));
        assertTrue(path, MetricsText.parse(answer.body()).families().size() > 1);
      }
    }
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
      for (String path : List.of("/_vamana/nodes/stats/state", "/photos/_vamana/stats")) {
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
      assertError(400, "illegal_argument_exception", "/_vamana/nodes/stats/gpus", accept);
      assertError(404, "resource_not_found_exception", "/_vamana/nodes/nobody/stats", accept);
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
    MetricsPage.read().assertSameOfIndices(json, text);
    Map<String, String> labels = Map.of("index", "photos", "field", "v");
    assertEquals(List.of(BigDecimal.valueOf(COUNT)), text.values("vamana_index_vectors", labels));
  }
}
