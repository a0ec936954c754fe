package dev.vamana.elasticsearch.stats;

import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.net.InetAddress;
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
public class GpuStatsTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  static GpuStats randomStats(Random random) {
    SortedMap<String, SortedMap<String, Long>> counters = new TreeMap<>();
    for (int group = random.nextInt(4); group > 0; group--) {
      SortedMap<String, Long> values = new TreeMap<>();
      for (int value = random.nextInt(5); value > 0; value--) {
        values.put(TestUtil.randomSimpleString(random), random.nextLong());
      }
      counters.put(TestUtil.randomUnicodeString(random), values);
    }
    return new GpuStats(
        TestUtil.randomSimpleString(random),
        GpuStats.State.values()[random.nextInt(GpuStats.State.values().length)],
        random.nextBoolean() ? null : TestUtil.randomUnicodeString(random),
        random.nextBoolean()
            ? null
            : new GpuStats.Device(
                random.nextInt(8),
                TestUtil.randomUnicodeString(random),
                random.nextInt(200),
                random.nextInt(1000),
                random.nextLong() & Long.MAX_VALUE,
                random.nextInt(20_000)),
        counters);
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

  public void testStatsSurviveTheWire() throws IOException {
    for (int i = 0; i < 100; i++) {
      GpuStats stats = randomStats(random());
      assertEquals(stats, overTheWire(stats, GpuStats::new));
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

  public void testNodeStatsSurviveTheWire() throws IOException {
    NodeStats stats = new NodeStats(node("one"), randomStats(random()));
    DiscoveryNode known = random().nextBoolean() ? stats.getNode() : null;
    NodeStats read = overTheWire(stats, in -> new NodeStats(in, known));
    assertEquals(stats.getNode(), read.getNode());
    assertEquals(stats.gpu(), read.gpu());
  }

  public void testNodeRequestSurvivesTheWire() throws IOException {
    StatsRequest.OfNode request = new StatsRequest.OfNode();
    request.setParentTask(new TaskId("node", random().nextInt(1000)));
    assertEquals(
        request.getParentTask(), overTheWire(request, StatsRequest.OfNode::new).getParentTask());
    assertTrue(
        request.createTask(1, "t", "a", request.getParentTask(), Map.of())
            instanceof CancellableTask);
  }

  public void testJsonOfADevice() throws IOException {
    SortedMap<String, SortedMap<String, Long>> counters = new TreeMap<>();
    counters.put("queries", new TreeMap<>(Map.of("exact", 7L, "in-memory", 5L)));
    GpuStats stats =
        new GpuStats(
            "auto",
            GpuStats.State.READY,
            null,
            new GpuStats.Device(1, "Some GPU", 90, 132, 1L << 37, 13000),
            counters);
    assertEquals(
        """
        {"enabled":"auto","state":"ready","device":{"ordinal":1,"name":"Some GPU",\
        "compute_capability":"9.0","multiprocessors":132,"memory_bytes":137438953472,\
        "cuda_version":"13.0"},"queries":{"exact":7,"in-memory":5}}\
        """,
        Strings.toString(stats));
    assertEquals(
        "{\"enabled\":\"off\",\"state\":\"off\",\"reason\":\"so it is set\"}",
        Strings.toString(GpuStats.without("off", GpuStats.State.OFF, "so it is set")));
  }

  public void testJsonOfAResponse() throws IOException {
    GpuStats one = randomStats(random());
    GpuStats two = randomStats(random());
    StatsResponse response =
        new StatsResponse(
            new ClusterName("c"),
            List.of(new NodeStats(node("one"), one), new NodeStats(node("two"), two)),
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
    Map<?, ?> first = (Map<?, ?>) nodes.get("one");
    assertEquals("name of one", first.get("name"));
    assertEquals(
        XContentHelper.convertToMap(JsonXContent.jsonXContent, Strings.toString(one), true),
        first.get("gpu"));
  }

  public void testCountersAreCopied() {
    SortedMap<String, SortedMap<String, Long>> counters = new TreeMap<>();
    counters.put("queries", new TreeMap<>(Map.of("exact", 1L)));
    GpuStats stats = new GpuStats("auto", GpuStats.State.READY, null, null, counters);
    counters.get("queries").put("exact", 2L);
    assertEquals(1L, (long) stats.counters().get("queries").get("exact"));
    expectThrows(
        UnsupportedOperationException.class, () -> stats.counters().put("more", new TreeMap<>()));
  }
}
