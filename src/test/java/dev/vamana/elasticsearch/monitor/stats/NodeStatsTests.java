package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.common.xcontent.ChunkedToXContent;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.BeforeClass;

/** What statistics look like on the wire, as JSON and as OpenMetrics. */
public class NodeStatsTests extends LuceneTestCase {
  private static final Set<String> ALL = Set.copyOf(NodeFigures.SECTIONS);

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static <T> T overTheWire(Writeable message, Writeable.Reader<T> reader)
      throws IOException {
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      message.writeTo(out);
      try (StreamInput in = out.bytes().streamInput()) {
        T read = reader.read(in);
        assertEquals("bytes left over", 0, in.available());
        return read;
      }
    }
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

  public void testStatsSurviveTheWire() throws IOException {
    for (int i = 0; i < 20; i++) {
      NodeStats stats = FullStatistics.node("one", FullStatistics.ofAGpu().tree());
      DiscoveryNode known = random().nextBoolean() ? stats.getNode() : null;
      NodeStats read = overTheWire(stats, in -> new NodeStats(in, known));
      assertEquals(stats.getNode(), read.getNode());
      assertEquals(stats.sections(), read.sections());
      assertEquals(json(FullStatistics.response(stats)), json(FullStatistics.response(read)));
    }
  }

  public void testNodeRequestSurvivesTheWire() throws IOException {
    for (Set<String> metrics : List.of(ALL, Set.of("state"), Set.<String>of())) {
      StatsRequest.OfNode request = new StatsRequest.OfNode(metrics);
      request.setParentTask(new TaskId("node", random().nextInt(1000)));
      StatsRequest.OfNode read = overTheWire(request, StatsRequest.OfNode::new);
      assertEquals(request.getParentTask(), read.getParentTask());
      assertEquals(metrics, read.metrics());
      assertTrue(
          request.createTask(1, "t", "a", request.getParentTask(), Map.of())
              instanceof CancellableTask);
    }
  }

  /** A newer node may ask for a section that this one does not have. */
  public void testUnknownSectionsAreIgnored() {
    StatsSource source = FullStatistics.withoutGpu();
    assertEquals(
        Set.of("state"), NodeFigures.tree(Set.of("state", "of_the_future"), source).keySet());
  }

  public void testAllNumbersOfSeveralNodes() throws IOException {
    for (int i = 0; i < 20; i++) {
      assertSameAsJson(
          FullStatistics.response(
              FullStatistics.node("one", FullStatistics.ofAGpu().tree()),
              FullStatistics.node("two", FullStatistics.ofAGpu().tree())));
    }
  }

  public void testANodeWithoutAGpu() throws IOException {
    Map<String, Object> tree = FullStatistics.withoutGpu().tree();
    assertNull(tree.get("residency"));
    assertEquals(List.of(), tree.get("devices"));
    assertEquals(
        Map.of("enabled", "auto", "state", "unavailable", "usable", false, "reason", "no driver"),
        tree.get("state"));
    MetricsText text =
        assertSameAsJson(
            FullStatistics.response(
                FullStatistics.node("one", tree),
                FullStatistics.node("two", FullStatistics.ofAGpu().tree())));
    Map<String, String> one = Map.of("node", "one");
    String launches = "vamana_executor_launches_total";
    assertEquals(List.of(), text.values(launches, one));
    assertEquals(1, text.values(launches, Map.of("node", "two")).size());
    assertEquals(
        List.of(BigDecimal.ONE),
        text.values("vamana_state_info", Map.of("node", "one", "state", "unavailable")));
    Map<String, String> noDevice = Map.of("node", "one", "reason", "no_device");
    assertEquals(1, text.values("vamana_executor_items_on_cpu_total", noDevice).size());
  }

  public void testSectionsThatWereNotAsked() throws IOException {
    MetricsText text =
        assertSameAsJson(FullStatistics.response(FullStatistics.node("one", Map.of())));
    assertEquals(List.of("vamana_nodes"), new ArrayList<>(text.families().keySet()));
    assertEquals(List.of(BigDecimal.ONE), text.values("vamana_nodes", Map.of("result", "failed")));
  }

  /** What the page shows is what is written. */
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

  public void testResidency() {
    Map<?, ?> residency =
        section(
            "residency",
            Map.of(
                "residency",
                Map.of(
                    "segments_exact", 2L,
                    "segments_in-memory", 3L,
                    "segments_waiting", 1L,
                    "bytes_exact", 100L,
                    "uploads", 9L,
                    "upload_nanos", 7_900_000L,
                    "misses_evicted", 4L,
                    "hits", 8L),
                "upload_waits",
                Map.of("count", 2L, "nanos", 3_000_000L)));
    assertEquals(
        Map.of("by_placement", Map.of("exact", 2L, "in-memory", 3L), "waiting", 1L),
        residency.get("segments"));
    assertEquals(Map.of("count", 9L, "time_in_millis", 7L), residency.get("uploads"));
    assertEquals(Map.of("evicted", 4L), residency.get("misses"));
    assertEquals(Map.of("count", 2L, "time_in_millis", 3L), residency.get("waits"));
    assertEquals(8L, residency.get("hits"));
  }

  public void testBuild() {
    Map<?, ?> build =
        section(
            "build",
            Map.of(
                "training", Map.of("codebooks", 21L, "codebook_nanos", 22_500_000L),
                "training_on_cpu", Map.of("failed", 25L),
                "graphs", Map.of("graphs", 26L, "nanos", 27_500_000L, "in_host_memory", 29L),
                "graphs_on_cpu", Map.of("unsupported", 28L)));
    assertEquals(
        Map.of(
            "graphs",
            Map.of(
                "count",
                26L,
                "time_in_millis",
                27L,
                "in_host_memory",
                29L,
                "on_cpu",
                Map.of("unsupported", 28L)),
            "codebooks",
            Map.of("count", 21L, "time_in_millis", 22L, "on_cpu", Map.of("failed", 25L))),
        build.get("gpu"));
    BuildStatistics.Snapshot built =
        new BuildStatistics.Snapshot(
            1,
            2_500_000,
            3,
            4,
            5,
            6_500_000,
            7,
            8,
            9,
            10,
            11,
            12,
            13,
            14,
            17,
            18_500_000,
            19,
            22,
            20,
            21,
            15,
            16);
    StatsSource source =
        new FullStatistics(GpuStats.without("off", GpuStats.State.OFF, "off"), List.of(), built);
    assertEquals(
        Map.of(
            "graphs",
            Map.of("count", 1L, "time_in_millis", 2L, "nodes_inserted", 3L, "nodes_reused", 4L),
            "codes",
            Map.of("count", 5L, "time_in_millis", 6L),
            "lists",
            Map.of("count", 17L, "time_in_millis", 18L),
            "codebooks",
            Map.of(
                "shared",
                7L,
                "kept",
                8L,
                "trained",
                9L,
                "not_shared",
                Map.of("none_named", 10L, "not_ready", 11L, "does_not_fit", 12L)),
            "aborted",
            15L,
            "failed",
            16L),
        NodeFigures.tree(Set.of("build"), source).get("build"));
  }

  public void testDevices() {
    StatsSource source =
        new FullStatistics(
            gpu(Map.of()), List.of(FullStatistics.device(1)), new BuildStatistics().snapshot());
    Map<?, ?> device =
        (Map<?, ?>) ((List<?>) NodeFigures.tree(Set.of("devices"), source).get("devices")).get(0);
    assertEquals(1, device.get("ordinal"));
    assertEquals("9.0", device.get("compute_capability"));
    assertEquals("12.4", device.get("cuda_version"));
    assertEquals("580.65.06", device.get("driver_version"));
    assertEquals(1L << 37, device.get("memory_total_in_bytes"));
    assertEquals(123456, device.get("power_in_milliwatts"));
    assertEquals(true, device.get("usable"));
    assertNotNull(device.get("segments"));
    assertNotNull(device.get("launches"));
  }

  public void testSectionsByName() {
    assertEquals(Set.of("devices", "memory"), RestStatsAction.sections("memory", "devices"));
    assertEquals(ALL, RestStatsAction.sections("devices", "_all"));
    IllegalArgumentException unknown =
        expectThrows(
            IllegalArgumentException.class,
            () -> RestStatsAction.sections("state", "gpu", "State"));
    assertEquals(
        "path parameter [metric] has unknown metrics [State, gpu]; known are [_all, build, devices,"
            + " executor, health, memory, recall, residency, state, training]",
        unknown.getMessage());
    expectThrows(IllegalArgumentException.class, () -> RestStatsAction.sections());
  }
}
