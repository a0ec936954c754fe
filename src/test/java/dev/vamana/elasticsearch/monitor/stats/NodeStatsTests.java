package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.recall.RecallStats;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.elasticsearch.action.FailedNodeException;
import org.elasticsearch.cluster.ClusterName;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.node.VersionInformation;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.common.transport.TransportAddress;
import org.elasticsearch.common.xcontent.ChunkedToXContent;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.BeforeClass;

/** What statistics look like on the wire and as JSON. */
public class NodeStatsTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static Counters randomCounters(Random random, int depth) {
    Counters.Builder counters = Counters.builder();
    for (int value = random.nextInt(5); value > 0; value--) {
      counters.put("n" + random.nextInt(100), random.nextLong());
    }
    for (int group = depth == 0 ? 0 : random.nextInt(4); group > 0; group--) {
      counters.put("g" + random.nextInt(100), randomCounters(random, depth - 1));
    }
    return counters.build();
  }

  private static Histogram randomHistogram(Random random) {
    List<Histogram.Bucket> buckets = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      buckets.add(
          new Histogram.Bucket(
              random.nextLong() & Long.MAX_VALUE, random.nextLong() & Long.MAX_VALUE));
    }
    return new Histogram(buckets);
  }

  private static Integer optional(Random random, int bound) {
    return random.nextBoolean() ? null : Integer.valueOf(random.nextInt(bound));
  }

  private static <T> T sometimes(Random random, T section) {
    return random.nextInt(4) == 0 ? null : section;
  }

  private static NodeStats.Sections randomSections(Random random) {
    DeviceStats.Sensors sensors =
        new DeviceStats.Sensors(
            random.nextBoolean() ? null : TestUtil.randomUnicodeString(random),
            random.nextBoolean() ? null : Long.valueOf(random.nextLong() & Long.MAX_VALUE),
            optional(random, 101),
            optional(random, 1_000_000),
            optional(random, 100));
    List<Trouble> troubles = new ArrayList<>();
    Trouble.Kind[] kinds = Trouble.Kind.values();
    for (int i = random.nextInt(3); i > 0; i--) {
      troubles.add(
          new Trouble(
              kinds[random.nextInt(kinds.length)],
              "subject",
              TestUtil.randomUnicodeString(random)));
    }
    StateStats.State[] states = StateStats.State.values();
    return new NodeStats.Sections(
        sometimes(
            random,
            new DeviceStats(
                random.nextInt(8),
                TestUtil.randomUnicodeString(random),
                random.nextInt(200),
                random.nextInt(1000),
                random.nextLong() & Long.MAX_VALUE,
                random.nextInt(20_000),
                sensors)),
        sometimes(
            random,
            new StateStats(
                TestUtil.randomSimpleString(random),
                states[random.nextInt(states.length)],
                random.nextBoolean() ? null : TestUtil.randomUnicodeString(random),
                randomCounters(random, 0))),
        sometimes(random, randomCounters(random, 2)),
        sometimes(
            random,
            new ExecutorStats(
                randomCounters(random, 1),
                randomCounters(random, 0),
                randomHistogram(random),
                randomHistogram(random))),
        sometimes(random, randomCounters(random, 1)),
        sometimes(random, randomCounters(random, 2)),
        sometimes(random, randomCounters(random, 1)),
        sometimes(random, randomRecall(random)),
        sometimes(random, troubles));
  }

  private static RecallStats randomRecall(Random random) {
    List<RecallStats.Row> rows = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      rows.add(
          new RecallStats.Row(
              "index" + i,
              TestUtil.randomUnicodeString(random),
              1 + random.nextInt(100),
              1 + random.nextInt(10_000),
              random.nextInt(2_000),
              random.nextDouble(),
              random.nextDouble(),
              random.nextDouble()));
    }
    return new RecallStats(
        random.nextInt(9_000), random.nextInt(9_000), new TreeMap<>(Map.of("busy", 2L)), rows);
  }

  private static NodeStats randomStats(String id) {
    return new NodeStats(
        node(id),
        new NodeStats.Times(random().nextLong() >>> 8, random().nextLong() >>> 8),
        randomSections(random()));
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

  private static DiscoveryNode node(String id) {
    return new DiscoveryNode(
        "name of " + id,
        id,
        new TransportAddress(InetAddress.getLoopbackAddress(), 9300),
        Map.of(),
        Set.of(),
        VersionInformation.CURRENT);
  }

  public void testStatsSurviveTheWire() throws IOException {
    for (int i = 0; i < 100; i++) {
      NodeStats stats = randomStats("one");
      DiscoveryNode known = random().nextBoolean() ? stats.getNode() : null;
      NodeStats read = overTheWire(stats, in -> new NodeStats(in, known));
      assertEquals(stats.getNode(), read.getNode());
      assertEquals(stats.times(), read.times());
      assertEquals(stats.sections(), read.sections());
    }
  }

  public void testNodeRequestSurvivesTheWire() throws IOException {
    for (Set<Metric> metrics : List.of(Metric.all(), Set.of(Metric.STATE), Set.<Metric>of())) {
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

  public void testJsonOfADevice() {
    assertEquals(
        """
        {"ordinal":1,"name":"Some GPU","compute_capability":"9.0","multiprocessors":132,\
        "cuda_version":"13.0","driver_version":"580.65.06",\
        "memory_total_in_bytes":137438953472,"memory_used_in_bytes":17,\
        "utilization_percent":37,"power_in_milliwatts":123456,"temperature_in_celsius":41}\
        """,
        Strings.toString(
            new DeviceStats(
                1,
                "Some GPU",
                90,
                132,
                1L << 37,
                13000,
                new DeviceStats.Sensors("580.65.06", 17L, 37, 123456, 41))));
    assertEquals(
        """
        {"ordinal":0,"name":"g","compute_capability":"8.6","multiprocessors":1,\
        "cuda_version":"12.4","memory_total_in_bytes":5}\
        """,
        Strings.toString(new DeviceStats(0, "g", 86, 1, 5, 12040, DeviceStats.Sensors.NONE)));
  }

  public void testJsonOfStates() {
    assertEquals(
        "{\"enabled\":\"off\",\"state\":\"off\",\"usable\":false,\"reason\":\"so it is set\"}",
        Strings.toString(GpuStats.without("off", StateStats.State.OFF, "so it is set").state()));
    assertEquals(
        "{\"enabled\":\"auto\",\"state\":\"ready\",\"usable\":true,\"contexts\":{\"opened\":2}}",
        Strings.toString(
            new StateStats(
                "auto",
                StateStats.State.READY,
                null,
                Counters.builder().put("opened", 2L).build())));
  }

  public void testJsonOfCounters() throws IOException {
    Counters counters =
        Counters.builder()
            .put("used_in_bytes", 2048L)
            .put("absent", (Long) null)
            .put("time_in_millis", 90_000L)
            .put("group", Counters.of(Map.of("b", 2L, "a", 1L)))
            .putIfAny("empty", Counters.builder().build())
            .build();
    assertEquals(
        "{\"time_in_millis\":90000,\"used_in_bytes\":2048,\"group\":{\"a\":1,\"b\":2}}",
        Strings.toString(counters));
    XContentBuilder json = JsonXContent.contentBuilder().humanReadable(true);
    counters.toXContent(json, ToXContent.EMPTY_PARAMS);
    assertEquals(
        """
        {"time":"1.5m","time_in_millis":90000,"used":"2kb","used_in_bytes":2048,\
        "group":{"a":1,"b":2}}\
        """,
        Strings.toString(json));
  }

  public void testHistogramsAreInOrder() {
    Histogram histogram =
        Histogram.of(Map.of("up_to_1023", 3L, "up_to_15", 2L, "up_to_1", 1L, "more", 4L));
    assertEquals(10, histogram.count());
    assertEquals(
        """
        {"items":{},"launches":{"count":10},"batch_size_histogram":[\
        {"up_to":1,"count":1},{"up_to":15,"count":2},{"up_to":1023,"count":3},{"count":4}],\
        "wait_in_micros_histogram":[]}\
        """,
        Strings.toString(
            new ExecutorStats(
                Counters.builder().build(),
                Counters.of(Map.of("count", 10L)),
                histogram,
                new Histogram(List.of()))));
  }

  public void testJsonOfAResponse() throws IOException {
    NodeStats.Sections all =
        new NodeStats.Sections(
            null,
            new StateStats("auto", StateStats.State.READY, null, Counters.builder().build()),
            null,
            null,
            null,
            null,
            Counters.of(Map.of("x", 3L)),
            null,
            List.of(new Trouble(Trouble.Kind.GPU_LOST, "gpu", "it fell off")));
    StatsResponse response =
        new StatsResponse(
            new ClusterName("c"),
            List.of(new NodeStats(node("one"), new NodeStats.Times(5, 4), all), randomStats("two")),
            List.of(new FailedNodeException("three", "gone", null)));
    XContentBuilder json = JsonXContent.contentBuilder();
    ChunkedToXContent.wrapAsToXContent(response).toXContent(json, ToXContent.EMPTY_PARAMS);
    Map<String, Object> map =
        XContentHelper.convertToMap(JsonXContent.jsonXContent, Strings.toString(json), true);
    assertEquals("c", map.get("cluster_name"));
    Map<?, ?> header = (Map<?, ?>) map.get("_nodes");
    assertEquals(3, header.get("total"));
    assertEquals(1, header.get("failed"));
    Map<?, ?> nodes = (Map<?, ?>) map.get("nodes");
    assertEquals(List.of("one", "two"), List.copyOf(nodes.keySet()));
    assertEquals(
        Map.of(
            "name",
            "name of one",
            "transport_address",
            node("one").getAddress().toString(),
            "timestamp",
            5,
            "since",
            4,
            "state",
            Map.of("enabled", "auto", "state", "ready", "usable", true),
            "memory",
            Map.of("x", 3),
            "health",
            List.of(Map.of("kind", "gpu_lost", "subject", "gpu", "message", "it fell off"))),
        nodes.get("one"));
  }

  public void testCountersAreCopied() {
    SortedMap<String, Long> values = new TreeMap<>(Map.of("exact", 1L));
    Counters counters = Counters.of(values);
    values.put("exact", 2L);
    assertEquals(1L, (long) counters.values().get("exact"));
    expectThrows(UnsupportedOperationException.class, () -> counters.values().put("more", 3L));
  }

  public void testMetricsByName() {
    assertEquals(Set.of(Metric.DEVICE, Metric.MEMORY), Metric.of(List.of("memory", "device")));
    assertEquals(Metric.all(), Metric.of(List.of("device", "_all")));
    IllegalArgumentException unknown =
        expectThrows(
            IllegalArgumentException.class, () -> Metric.of(List.of("state", "gpu", "Device")));
    assertEquals(
        "path parameter [metric] has unknown metrics [Device, gpu]; known are [_all, build, device,"
            + " devices, executor, health, memory, recall, residency, state, training]",
        unknown.getMessage());
    expectThrows(IllegalArgumentException.class, () -> Metric.of(List.of()));
  }
}
