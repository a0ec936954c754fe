package dev.vamana.elasticsearch;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.elasticsearch.codebook.Codebooks;
import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.elasticsearch.gpu.NodeExecutor;
import dev.vamana.elasticsearch.index.NodeBuilding;
import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.recall.RecallMonitor;
import dev.vamana.elasticsearch.monitor.stats.DeviceStats;
import dev.vamana.elasticsearch.monitor.stats.GpuStats;
import dev.vamana.elasticsearch.monitor.stats.NodeHealth;
import dev.vamana.elasticsearch.monitor.stats.StatsSource;
import dev.vamana.elasticsearch.search.IdCache;
import dev.vamana.search.CpuSearches;
import dev.vamana.search.ExecutorRegistry;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Gives the node's statistics from the parts of the plugin that count them.
 *
 * @param executor answers searches
 * @param building counts written segments and the memory to build them in
 * @param codebooks trains and keeps codebooks
 * @param idCache keeps ids for batched searches
 * @param recalls recall of sampled searches
 * @param health finds out what is wrong
 */
record NodeStatsSource(
    NodeExecutor executor,
    NodeBuilding building,
    Codebooks codebooks,
    IdCache idCache,
    RecallMonitor recalls,
    NodeHealth health)
    implements StatsSource {
  @Override
  public GpuStats gpu() {
    return executor.gpu();
  }

  @Override
  public List<DeviceStats> devices() {
    return executor.devices();
  }

  @Override
  public CpuSearches readers() {
    return ExecutorRegistry.cpuSearches();
  }

  @Override
  public BuildStatistics.Snapshot build() {
    return building.statistics().snapshot();
  }

  @Override
  public SortedMap<String, SortedMap<String, Long>> counters() {
    SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>();
    groups.put("ids", idCache.stats());
    groups.put("builds", building.memory().stats());
    Samples samples = codebooks.samples();
    put(groups, "samples", "used", samples.memory().used());
    put(groups, "samples", "limit", samples.memory().limit());
    codebooks
        .ready()
        .forEach((name, codebook) -> put(groups, "codebooks", name, codebook.version()));
    for (SampleStatus sample : samples.status()) {
      put(groups, "sample_documents", sample.name(), sample.seen());
      put(groups, "sample_vectors", sample.name(), sample.held());
      put(groups, "sample_rejected", sample.name(), sample.rejected());
      put(groups, "sample_missed", sample.name(), sample.missed());
    }
    return groups;
  }

  private static void put(
      SortedMap<String, SortedMap<String, Long>> groups, String group, String name, long value) {
    groups.computeIfAbsent(group, missing -> new TreeMap<>()).put(name, value);
  }

  @Override
  public Map<String, Object> recall() {
    return recalls.figures();
  }

  @Override
  public List<Trouble> troubles() {
    return health.troubles(gpu(), recall());
  }
}
