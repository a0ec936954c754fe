package dev.vamana.elasticsearch.monitor.stats;

import static org.apache.lucene.tests.util.LuceneTestCase.random;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.recall.Tally;
import dev.vamana.search.CpuSearches;
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
record FullStatistics(GpuStats gpu, List<DeviceStats> devices, BuildStatistics.Snapshot build)
    implements StatsSource {

  /** Names of an executor's counters by group; groups without fixed names get arbitrary ones. */
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
          Map.entry("balance", List.of("moves", "copies")),
          Map.entry("routed", List.of("segments", "items")),
          Map.entry("contexts", List.of("opened", "lost", "failed_attempts", "wrong_answers")),
          Map.entry("ids", List.of("used", "limit")),
          Map.entry("builds", List.of("used", "limit", "files")),
          Map.entry("samples", List.of("used", "limit")),
          Map.entry("codebooks", List.of("a.b", "version")),
          Map.entry("sample_documents", List.of("a.b", "with \"quotes\"")),
          Map.entry("sample_vectors", List.of("a.b", "with \"quotes\"")),
          Map.entry("sample_rejected", List.of("a.b")),
          Map.entry("sample_missed", List.of("a.b")),
          Map.entry("upload_waits", List.of("count", "nanos")),
          Map.entry("items", List.of("requested", "cancelled")),
          Map.entry("items_by_placement", List.of("exact", "codes")),
          Map.entry("items_on_cpu", List.of("scan", "planned", "out_of_memory")),
          Map.entry("segments_ahead", List.of("sent", "used", "in_vain")),
          Map.entry("plan_items", List.of("scan", "graph")),
          Map.entry(
              "batches",
              List.of("launches", "failed_launches", "items", "requests", "wait_micros")),
          Map.entry("now", List.of("staging_bytes", "staging_limit_bytes")),
          Map.entry("training", List.of("codebooks", "codebook_nanos")),
          Map.entry("training_on_cpu", List.of("too_small", "failed")),
          Map.entry("graphs", List.of("graphs", "nanos")),
          Map.entry("graphs_on_cpu", List.of("unsupported", "failed")));

  private static long number() {
    return random().nextLong() >>> 8 + random().nextInt(50);
  }

  private static SortedMap<String, SortedMap<String, Long>> groups() {
    SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>();
    GROUPS.forEach(
        (group, names) -> {
          SortedMap<String, Long> values = new TreeMap<>();
          names.forEach(name -> values.put(name, number()));
          groups.put(group, values);
        });
    return groups;
  }

  /** Statistics of a node with one or two GPUs. */
  static FullStatistics ofAGpu() {
    GpuStats.State[] states = GpuStats.State.values();
    return new FullStatistics(
        new GpuStats("auto", states[random().nextInt(states.length)], "a \"reason\"\n", groups()),
        random().nextBoolean() ? List.of(device(0)) : List.of(device(0), device(3)),
        new BuildStatistics().snapshot());
  }

  static DeviceStats device(int ordinal) {
    return new DeviceStats(
        new GpuStatistics(
            GpuStatistics.State.READY,
            null,
            new DeviceInfo(ordinal, "Some \\ GPU", 90, 132, 1 << 17, 1 << 20, 1L << 37, 12040, "U"),
            groups()));
  }

  @Override
  public CpuSearches readers() {
    return ExecutorRegistry.cpuSearches();
  }

  @Override
  public SortedMap<String, SortedMap<String, Long>> counters() {
    SortedMap<String, SortedMap<String, Long>> own = groups();
    own.keySet()
        .removeIf(
            name ->
                Set.of("ids", "builds", "samples", "codebooks").contains(name) == false
                    && name.startsWith("sample_") == false);
    return own;
  }

  @Override
  public Map<String, Object> recall() {
    return Map.of(
        "evaluated",
        number(),
        "time_in_millis",
        number(),
        "skipped",
        Map.of("busy", 3L, "changed", 4L),
        "searches",
        List.of(search("v", 10, new Tally(412, 383, 370)), search("w", 1, new Tally(7, 7, 7))));
  }

  static Map<String, Object> search(String field, int k, Tally tally) {
    Map<String, Object> row = new TreeMap<>(tally.figures());
    row.putAll(Map.of("index", "i", "field", field, "k", k));
    return row;
  }

  @Override
  public List<Trouble> troubles() {
    return List.of(
        new Trouble(Trouble.Kind.GPU_LOST, "gpu", "it fell off"),
        new Trouble(Trouble.Kind.LEFTOVER_SEGMENTS, "i", "forgotten"),
        new Trouble(Trouble.Kind.LEFTOVER_SEGMENTS, "j", "forgotten"));
  }

  /** All sections. */
  Map<String, Object> tree() {
    return NodeFigures.tree(Set.copyOf(NodeFigures.SECTIONS), this);
  }

  static NodeStats node(String id, Map<String, Object> sections) {
    return new NodeStats(
        new DiscoveryNode(
            "name of \"" + id + "\"",
            id,
            new TransportAddress(InetAddress.getLoopbackAddress(), 9300),
            Map.of(),
            Set.of(),
            VersionInformation.CURRENT),
        5,
        sections);
  }

  static StatsResponse response(NodeStats... nodes) {
    return new StatsResponse(
        new ClusterName("my cluster"),
        List.of(nodes),
        List.of(new FailedNodeException("three", "gone", null)));
  }
}
