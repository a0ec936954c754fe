package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.monitor.openmetrics.MetricsPage;
import dev.vamana.elasticsearch.monitor.openmetrics.MetricsText;
import dev.vamana.search.ExecutorRegistry;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.xcontent.ChunkedToXContent;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.BeforeClass;

/** Statistics as OpenMetrics have the numbers of the JSON, each where the page says. */
public class StatsMetricsTests extends LuceneTestCase {

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static MetricsText assertSameAsJson(StatsResponse response) throws IOException {
    XContentBuilder json = JsonXContent.contentBuilder();
    ChunkedToXContent.wrapAsToXContent(response).toXContent(json, ToXContent.EMPTY_PARAMS);
    Map<String, Object> map =
        XContentHelper.convertToMap(JsonXContent.jsonXContent, Strings.toString(json), true);
    MetricsText text = MetricsText.parse(StatsMetrics.of(response).text());
    MetricsPage.read().assertSame(map, text);
    return text;
  }

  public void testAllNumbersOfSeveralNodes() throws IOException {
    for (int i = 0; i < 20; i++) {
      assertSameAsJson(
          FullStatistics.response(
              FullStatistics.node("one", FullStatistics.all()),
              FullStatistics.node("two", FullStatistics.all())));
    }
  }

  public void testANodeWithoutAGpu() throws IOException {
    GpuStats gpu = GpuStats.without("auto", StateStats.State.UNAVAILABLE, "no driver");
    NodeStats.Sections sections =
        new NodeStats.Sections(
            null,
            gpu.state(),
            gpu.residency(),
            gpu.executor(ExecutorRegistry.cpuSearches()),
            null,
            FullStatistics.training(),
            gpu.memory(FullStatistics.counters("used_in_bytes")),
            null,
            List.of());
    MetricsText text =
        assertSameAsJson(
            FullStatistics.response(
                FullStatistics.node("one", sections),
                FullStatistics.node("two", FullStatistics.all())));
    Map<String, String> one = Map.of("node", "one");
    assertEquals(List.of(), text.values("vamana_launch_items_count", one));
    assertEquals(1, text.values("vamana_launch_items_count", Map.of("node", "two")).size());
    assertEquals(
        List.of(BigDecimal.ONE),
        text.values("vamana_gpu_state", Map.of("node", "one", "vamana_gpu_state", "unavailable")));
    Map<String, String> noDevice = Map.of("node", "one", "reason", "no_device");
    assertEquals(1, text.values("vamana_items_on_cpu_total", noDevice).size());
  }

  public void testSectionsThatWereNotAsked() throws IOException {
    NodeStats.Sections none =
        new NodeStats.Sections(null, null, null, null, null, null, null, null, null);
    MetricsText text = assertSameAsJson(FullStatistics.response(FullStatistics.node("one", none)));
    assertEquals(
        List.of("vamana_nodes", "vamana_counting_since_seconds", "vamana_counted_until_seconds"),
        new ArrayList<>(text.families().keySet()));
    assertEquals(List.of(BigDecimal.ONE), text.values("vamana_nodes", Map.of("result", "failed")));
  }

  /** What the page shows is what is written. */
  public void testText() {
    NodeStats.Sections sections =
        new NodeStats.Sections(
            null,
            null,
            null,
            null,
            null,
            null,
            Counters.builder()
                .put("device", Counters.of(Map.of("used_in_bytes", 17L << 30)))
                .build(),
            null,
            null);
    String text =
        StatsMetrics.of(FullStatistics.response(FullStatistics.node("a\"b", sections))).text();
    String expected =
        """
        # TYPE vamana_memory_used_bytes gauge
        # UNIT vamana_memory_used_bytes bytes
        # HELP vamana_memory_used_bytes Memory in use.
        vamana_memory_used_bytes{cluster="my cluster",node="a\\"b",\
        node_name="name of \\"a\\"b\\"",pool="device"} 18253611008
        # EOF
        """;
    assertTrue(text, text.endsWith(expected));
  }

  /** New buckets do not appear while a node runs. */
  public void testBucketsAreThereFromTheStart() {
    List<Histogram.Bucket> buckets = Histogram.of(Map.of("up_to_3", 4L)).withEmptyBuckets();
    assertEquals(17, buckets.size());
    assertEquals(new Histogram.Bucket(0, 0), buckets.get(0));
    assertEquals(new Histogram.Bucket(3, 4), buckets.get(2));
    assertEquals(new Histogram.Bucket(65535, 0), buckets.get(16));
  }
}
