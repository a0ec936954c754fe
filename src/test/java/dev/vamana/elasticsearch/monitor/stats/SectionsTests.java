package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.search.ExecutorRegistry;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The parts of a node's statistics that are made of counters of other packages. */
public class SectionsTests extends LuceneTestCase {

  private static final StateStats READY =
      new StateStats("auto", StateStats.State.READY, null, Counters.builder().build());

  private static SortedMap<String, SortedMap<String, Long>> groups(
      Map<String, Map<String, Long>> groups) {
    SortedMap<String, SortedMap<String, Long>> sorted = new TreeMap<>();
    groups.forEach((name, values) -> sorted.put(name, new TreeMap<>(values)));
    return sorted;
  }

  private static Counters at(Counters counters, String group) {
    Counters found = counters.groups().get(group);
    assertNotNull(group + " in " + counters, found);
    return found;
  }

  public void testExecutorAddsWhatReadersAnswered() {
    GpuStats gpu =
        new GpuStats(
            READY,
            groups(
                Map.of(
                    "items", Map.of("requested", 20L, "cancelled", 2L),
                    "items_by_placement", Map.of("exact", 11L, "in-memory", 3L),
                    "items_on_cpu", Map.of("scan", 3L, "no_device", 1L),
                    "batches", Map.of("launches", 5L, "items", 14L, "wait_micros", 70L),
                    "batch_sizes", Map.of("up_to_1", 2L, "up_to_3", 3L),
                    "wait_micros", Map.of("up_to_15", 6L),
                    "now", Map.of("launches_in_flight", 1L))));
    ExecutorStats stats = gpu.executor(ExecutorRegistry.cpuSearches());
    long readers = stats.items().values().get("requested") - 20;
    assertEquals(2L, (long) stats.items().values().get("cancelled"));
    assertEquals(14, at(stats.items(), "by_placement").sum());
    // other tests of this process may have searched
    assertEquals(4 + readers, at(stats.items(), "on_cpu").sum());
    assertEquals(
        stats.items().values().get("requested").longValue(),
        at(stats.items(), "by_placement").sum() + at(stats.items(), "on_cpu").sum() + 2);
    assertEquals(5, stats.batchSizes().count());
    assertEquals(5L, (long) stats.launches().values().get("count"));
    assertEquals(1L, (long) stats.launches().values().get("in_flight"));
    assertEquals(70L, (long) stats.launches().values().get("wait_in_micros"));
  }

  public void testWithoutDeviceThereIsNothingOfIt() {
    GpuStats gpu = GpuStats.without("auto", StateStats.State.UNAVAILABLE, "none");
    assertNull(gpu.residency());
    Counters none = Counters.builder().build();
    assertEquals(none, gpu.memory(none));
    Counters breaker = Counters.of(Map.of("limit_in_bytes", 5L));
    assertEquals(Map.of("breaker", breaker), gpu.memory(breaker).groups());
    ExecutorStats stats = gpu.executor(ExecutorRegistry.cpuSearches());
    assertEquals(Map.of(), stats.launches().values());
    assertEquals(0, stats.batchSizes().count());
    assertEquals(
        stats.items().values().get("requested").longValue(), at(stats.items(), "on_cpu").sum());
  }

  public void testResidency() {
    Counters residency =
        new GpuStats(
                READY,
                groups(
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
                        Map.of("count", 2L, "nanos", 3_000_000L))))
            .residency();
    Counters segments = at(residency, "segments");
    assertEquals(Map.of("resident", 5L, "waiting", 1L), segments.values());
    assertEquals(Map.of("exact", 2L, "in-memory", 3L), at(segments, "by_placement").values());
    assertEquals(Map.of("exact_in_bytes", 100L), at(residency, "device_memory").values());
    assertEquals(Map.of("count", 9L, "time_in_millis", 7L), at(residency, "uploads").values());
    assertEquals(Map.of("evicted", 4L), at(residency, "misses").values());
    assertEquals(Map.of("count", 2L, "time_in_millis", 3L), at(residency, "waits").values());
    assertEquals(Map.of("hits", 8L), residency.values());
  }

  public void testMemory() {
    Counters memory =
        new GpuStats(
                READY,
                groups(
                    Map.of(
                        "residency", Map.of("device_bytes", 3L, "device_limit_bytes", 9L),
                        "now", Map.of("staging_bytes", 1L, "host_memory_bytes", 2L))))
            .memory(Counters.builder().build());
    assertEquals(
        Map.of(
            "device", Counters.of(Map.of("used_in_bytes", 3L, "limit_in_bytes", 9L)),
            "staging", Counters.of(Map.of("used_in_bytes", 1L)),
            "counted", Counters.of(Map.of("used_in_bytes", 2L))),
        memory.groups());
  }

  public void testBuild() {
    GpuStats gpu =
        new GpuStats(
            READY,
            groups(
                Map.of(
                    "training",
                    Map.of(
                        "codebooks", 21L,
                        "codebook_nanos", 22_500_000L,
                        "vectors_encoded", 23L,
                        "encode_nanos", 24_500_000L,
                        "vectors_assigned", 30L,
                        "assign_nanos", 31_500_000L),
                    "training_on_cpu",
                    Map.of("failed", 25L),
                    "graphs",
                    Map.of("graphs", 26L, "nanos", 27_500_000L, "in_host_memory", 29L),
                    "graphs_on_cpu",
                    Map.of("unsupported", 28L))));
    Counters build =
        BuildStats.of(
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
                16),
            gpu.building());
    assertEquals(
        Map.of(
            "codebooks_trained", 21L,
            "training_time_in_millis", 22L,
            "vectors_encoded", 23L,
            "encoding_time_in_millis", 24L,
            "vectors_assigned", 30L,
            "assignment_time_in_millis", 31L,
            "graphs_built", 26L,
            "graph_time_in_millis", 27L,
            "graphs_in_host_memory", 29L),
        at(build, "gpu").values());
    assertEquals(Map.of("unsupported", 28L), at(at(build, "gpu"), "graphs_on_cpu").values());
    assertEquals(Map.of("failed", 25L), at(at(build, "gpu"), "on_cpu").values());
    GpuStats none = GpuStats.without("off", StateStats.State.OFF, "off");
    assertTrue(none.building().values().isEmpty());
    assertEquals(
        Map.of("count", 1L, "time_in_millis", 2L, "nodes_inserted", 3L, "nodes_reused", 4L),
        at(build, "graphs").values());
    assertEquals(
        Map.of("count", 5L, "time_in_millis", 6L, "vectors_encoded", 13L, "vectors_copied", 14L),
        at(build, "codes").values());
    assertEquals(
        Map.of(
            "count", 17L,
            "time_in_millis", 18L,
            "centroids_kept", 19L,
            "centroids_shared", 22L,
            "vectors_encoded", 20L,
            "vectors_copied", 21L),
        at(build, "lists").values());
    Counters codebooks = at(build, "codebooks");
    assertEquals(Map.of("shared", 7L, "kept", 8L, "trained", 9L), codebooks.values());
    assertEquals(
        Map.of("none_named", 10L, "not_ready", 11L, "does_not_fit", 12L),
        at(codebooks, "not_shared").values());
    assertEquals(Map.of("aborted", 15L, "failed", 16L), build.values());
  }
}
