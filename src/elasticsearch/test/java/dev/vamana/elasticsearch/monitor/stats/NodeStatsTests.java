package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.xcontent.ChunkedToXContent;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.BeforeClass;

/** Forms of statistics: on the wire, as JSON and as OpenMetrics. */
public class NodeStatsTests extends LuceneTestCase {

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static Map<String, Object> json(StatsResponse response) throws IOException {
    XContentBuilder json = JsonXContent.contentBuilder();
    ChunkedToXContent.wrapAsToXContent(response).toXContent(json, ToXContent.EMPTY_PARAMS);
    return XContentHelper.convertToMap(JsonXContent.jsonXContent, Strings.toString(json), true);
  }

  private static MetricsText assertSameAsJson(StatsResponse response) throws IOException {
    MetricsText text = MetricsText.parse(response.openMetrics().text());
    MetricsPage.read().assertSame(json(response), text);
    return text;
  }

  private static GpuStats gpu(Map<String, Map<String, Long>> groups) {
    SortedMap<String, SortedMap<String, Long>> sorted = new TreeMap<>();
    groups.forEach((name, values) -> sorted.put(name, new TreeMap<>(values)));
    return new GpuStats("auto", GpuStats.State.READY, null, sorted);
  }

  /** A section of a node whose executor has these counters. */
  private static Map<?, ?> section(String name, Map<String, Map<String, Long>> groups) {
    StatsSource source =
        new FullStatistics(gpu(groups), List.of(), new BuildStatistics().snapshot());
    Map<String, Object> tree = NodeFigures.tree(Set.of(name), source);
    assertTrue(tree.keySet().toString(), Set.of(name).containsAll(tree.keySet()));
    return (Map<?, ?>) tree.get(name);
  }

  public void testAllNumbersOfSeveralNodes() throws IOException {
    for (int i = 0; i < 20; i++) {
      assertSameAsJson(
          FullStatistics.response(
              FullStatistics.node("one", FullStatistics.ofAGpu().tree()),
              FullStatistics.node("two", FullStatistics.ofAGpu().tree())));
    }
  }

  /** A node's metrics are written as the page shows them. */
  public void testText() {
    Map<String, Object> sections =
        Map.of("memory", Map.of("device", Map.of("used_in_bytes", 17L << 30)));
    String text =
        FullStatistics.response(FullStatistics.node("a\"b", sections)).openMetrics().text();
    String expected =
        """
        # TYPE vamana_memory_device_used_bytes gauge
        # UNIT vamana_memory_device_used_bytes bytes
        # HELP vamana_memory_device_used_bytes Device memory in use for segments, searches and \
        builds.
        vamana_memory_device_used_bytes{cluster="my cluster",node="a\\"b",\
        node_name="name of \\"a\\"b\\""} 18253611008
        # EOF
        """;
    assertTrue(text, text.endsWith(expected));
  }

  public void testHumanReadableSizesAndTimes() throws IOException {
    Map<String, Object> tree = new TreeMap<>();
    tree.put("used_in_bytes", 2048L);
    tree.put("time_in_millis", 90_000L);
    tree.put("list", List.of(Map.of("b", 2L)));
    XContentBuilder json = JsonXContent.contentBuilder().humanReadable(true).startObject();
    Figures.write(json, tree);
    assertEquals(
        """
        {"list":[{"b":2}],"time":"1.5m","time_in_millis":90000,"used":"2kb","used_in_bytes":2048}\
        """,
        Strings.toString(json.endObject()));
  }

  public void testExecutorAddsWhatReadersAnswered() {
    Map<?, ?> executor =
        section(
            "executor",
            Map.of(
                "items", Map.of("requested", 20L, "cancelled", 2L),
                "items_by_placement", Map.of("exact", 11L, "in-memory", 3L),
                "items_on_cpu", Map.of("scan", 3L, "planned", 1L),
                "batches", Map.of("launches", 5L, "items", 14L, "wait_micros", 7_900L)));
    Map<?, ?> items = (Map<?, ?>) executor.get("items");
    assertEquals(Map.of("exact", 11L, "in-memory", 3L), items.get("by_placement"));
    assertEquals(Map.of("count", 5L, "items", 14L, "wait_in_millis", 7L), executor.get("launches"));
    assertEquals(2L, items.get("cancelled"));
    Map<?, ?> onCpu = (Map<?, ?>) items.get("on_cpu");
    assertEquals(1L, onCpu.get("planned"));
    assertNotNull(onCpu.get("no_device"));
    // other tests of this process may have searched
    long sum = onCpu.values().stream().mapToLong(value -> (Long) value).sum();
    assertEquals(items.get("requested"), sum + 14 + 2);
  }
}
