package dev.vamana.elasticsearch.monitor.stats;

import static org.apache.lucene.tests.util.LuceneTestCase.random;

import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.recall.RecallStats;
import dev.vamana.search.ExecutorRegistry;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.elasticsearch.action.FailedNodeException;
import org.elasticsearch.cluster.ClusterName;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.node.VersionInformation;
import org.elasticsearch.common.transport.TransportAddress;

/** Statistics that have every number there is, each drawn at random. */
final class FullStatistics {

  /** Groups of an executor's counters; those without names get what a bucket is called. */
  private static final Map<String, List<String>> GROUPS =
      Map.ofEntries(
          Map.entry(
              "residency",
              List.of(
                  "hits",
                  "evictions",
                  "segments_waiting",
                  "segments_exact",
                  "segments_codes",
                  "bytes_exact",
                  "bytes_codes",
                  "uploads",
                  "upload_failures",
                  "upload_bytes",
                  "upload_nanos",
                  "misses_over_budget",
                  "misses_evicted",
                  "device_bytes",
                  "device_limit_bytes",
                  "scratch_bytes",
                  "page_cache_bytes",
                  "page_cache_limit_bytes")),
          Map.entry("balance", List.of("moves", "moved_bytes")),
          Map.entry("upload_waits", List.of("count", "nanos")),
          Map.entry("items", List.of("requested", "cancelled")),
          Map.entry("items_by_placement", List.of("exact", "codes", "none")),
          Map.entry("items_on_cpu", List.of("scan", "planned", "out_of_memory")),
          Map.entry("segments_ahead", List.of("sent", "used", "in_vain")),
          Map.entry("plan_items", List.of("scan", "graph")),
          Map.entry("plan_calls", List.of("scan", "graph")),
          Map.entry("plan_batches", List.of("scan")),
          Map.entry("plan_predicted_micros", List.of("scan", "graph")),
          Map.entry("plan_measured_micros", List.of("scan", "graph")),
          Map.entry("plan_percent_scan", List.of("up_to_12", "up_to_100", "up_to_800", "more")),
          Map.entry("plan_percent_graph", List.of("up_to_12", "up_to_25", "more")),
          Map.entry("batch_sizes", List.of("up_to_1", "up_to_63", "more")),
          Map.entry("wait_micros", List.of("up_to_0", "up_to_127", "up_to_65535")),
          Map.entry(
              "batches",
              List.of(
                  "launches",
                  "failed_launches",
                  "items",
                  "requests",
                  "abandoned_requests",
                  "lists_together",
                  "copied_bitsets",
                  "processors_scarce",
                  "distances",
                  "steps",
                  "wait_micros")),
          Map.entry(
              "now",
              List.of(
                  "launches_in_flight",
                  "staging_bytes",
                  "staging_limit_bytes",
                  "host_memory_bytes")),
          Map.entry(
              "training",
              List.of(
                  "codebooks",
                  "codebook_nanos",
                  "vectors_encoded",
                  "encode_nanos",
                  "vectors_assigned",
                  "assign_nanos")),
          Map.entry("training_on_cpu", List.of("too_small", "failed")),
          Map.entry("graphs", List.of("graphs", "nanos", "in_host_memory")),
          Map.entry("graphs_on_cpu", List.of("unsupported", "failed")));

  private FullStatistics() {}

  private static long number() {
    return random().nextLong() >>> 1 + random().nextInt(60);
  }

  static Counters counters(String... names) {
    Counters.Builder counters = Counters.builder();
    for (String name : names) {
      counters.put(name, number());
    }
    return counters.build();
  }

  private static GpuStats gpu() {
    SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>();
    GROUPS.forEach(
        (group, names) -> {
          SortedMap<String, Long> values = new TreeMap<>();
          names.forEach(name -> values.put(name, number() >>> 8));
          groups.put(group, values);
        });
    return new GpuStats(
        new StateStats(
            "auto",
            StateStats.State.values()[random().nextInt(4)],
            "a \"reason\"\n",
            counters(
                "opened",
                "lost",
                "failed_attempts",
                "questioned",
                "questioned_in_micros",
                "wrong_answers",
                "questions_left_out",
                "questions_failed")),
        groups);
  }

  private static Counters build(GpuStats gpu) {
    return Counters.builder()
        .put("graphs", counters("count", "time_in_millis", "nodes_inserted", "nodes_reused"))
        .put("codes", counters("count", "time_in_millis", "vectors_encoded", "vectors_copied"))
        .put(
            "lists",
            counters(
                "count",
                "time_in_millis",
                "centroids_kept",
                "centroids_shared",
                "vectors_encoded",
                "vectors_copied"))
        .put(
            "codebooks",
            Counters.builder()
                .put("shared", 3L)
                .put("kept", 2L)
                .put("trained", 1L)
                .put("not_shared", counters("none_named", "not_ready"))
                .build())
        .put("gpu", gpu.building())
        .put("aborted", number())
        .put("failed", number())
        .build();
  }

  static Counters training() {
    Counters sample = counters("documents", "sampled", "rejected", "missed");
    return Counters.builder()
        .put(
            "codebooks",
            Counters.builder()
                .put("a.b", counters("version"))
                .put("version", counters("version"))
                .build())
        .put(
            "samples", Counters.builder().put("a.b", sample).put("with \"quotes\"", sample).build())
        .put("sample_memory", counters("used_in_bytes", "limit_in_bytes"))
        .build();
  }

  static NodeStats.Sections all() {
    GpuStats gpu = gpu();
    DeviceStats device =
        new DeviceStats(
            1,
            "GPU-0",
            "Some \\ GPU",
            90,
            132,
            number(),
            13000,
            new DeviceStats.Sensors("580.65.06", number(), 37, 123456, 41));
    return new NodeStats.Sections(
        device,
        gpu.state(),
        gpu.residency(),
        gpu.executor(ExecutorRegistry.cpuSearches()),
        build(gpu),
        training(),
        gpu.memory(
            counters("used_in_bytes", "limit_in_bytes", "tripped"),
            counters("used_in_bytes", "limit_in_bytes"),
            counters("used_in_bytes", "limit_in_bytes", "files")),
        new RecallStats(
            number(),
            number() >>> 8,
            new TreeMap<>(Map.of("busy", 3L, "changed", 4L)),
            List.of(
                new RecallStats.Row("photos", "v", 10, 100, 412, 0.93124, 0.9221, 0.9394),
                new RecallStats.Row("photos", "w", 1, 10, 7, 1, 0.6457, 1))),
        List.of(
            new Trouble(Trouble.Kind.GPU_LOST, "gpu", "it fell off"),
            new Trouble(Trouble.Kind.LEFTOVER_SEGMENTS, "i", "forgotten"),
            new Trouble(Trouble.Kind.LEFTOVER_SEGMENTS, "j", "forgotten")),
        List.of(
            new DeviceSection(
                device,
                gpu.state(),
                gpu.ofDevice(Map.of("segments", number(), "items", number())))));
  }

  static NodeStats node(String id, NodeStats.Sections sections) {
    return new NodeStats(
        new DiscoveryNode(
            "name of \"" + id + "\"",
            id,
            new TransportAddress(InetAddress.getLoopbackAddress(), 9300),
            Map.of(),
            Set.of(),
            VersionInformation.CURRENT),
        new NodeStats.Times(number(), number()),
        sections);
  }

  static StatsResponse response(NodeStats... nodes) {
    return new StatsResponse(
        new ClusterName("my cluster"),
        List.of(nodes),
        List.of(new FailedNodeException("three", "gone", null)));
  }
}
