package dev.vamana.elasticsearch;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.elasticsearch.codebook.Codebooks;
import dev.vamana.elasticsearch.gpu.NodeExecutor;
import dev.vamana.elasticsearch.gpu.PinnedMemoryBreaker;
import dev.vamana.elasticsearch.index.NodeBuilding;
import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.recall.RecallMonitor;
import dev.vamana.elasticsearch.monitor.recall.RecallStats;
import dev.vamana.elasticsearch.monitor.stats.Counters;
import dev.vamana.elasticsearch.monitor.stats.DeviceSection;
import dev.vamana.elasticsearch.monitor.stats.DeviceStats;
import dev.vamana.elasticsearch.monitor.stats.GpuStats;
import dev.vamana.elasticsearch.monitor.stats.NodeHealth;
import dev.vamana.elasticsearch.monitor.stats.StatsSource;
import dev.vamana.elasticsearch.monitor.stats.TrainingStats;
import dev.vamana.elasticsearch.search.IdCache;
import java.util.List;

/**
 * Gives the node's statistics from the parts of the plugin that count them.
 *
 * @param executor answers searches
 * @param building counts written segments and the memory to build them in
 * @param codebooks trains and keeps codebooks
 * @param pinned bounds the host memory of batches
 * @param idCache keeps ids for batched searches
 * @param recalls recall of sampled searches
 * @param health finds out what is wrong
 */
record NodeStatsSource(
    NodeExecutor executor,
    NodeBuilding building,
    Codebooks codebooks,
    PinnedMemoryBreaker pinned,
    IdCache idCache,
    RecallMonitor recalls,
    NodeHealth health)
    implements StatsSource {
  @Override
  public GpuStats gpu() {
    return executor.gpu();
  }

  @Override
  public DeviceStats device() {
    return executor.device();
  }

  @Override
  public List<DeviceSection> devices() {
    return executor.devices();
  }

  @Override
  public BuildStatistics.Snapshot build() {
    return building.statistics().snapshot();
  }

  @Override
  public Counters breaker() {
    return pinned.stats();
  }

  @Override
  public Counters ids() {
    return idCache.stats();
  }

  @Override
  public Counters builds() {
    return building.memory().stats();
  }

  @Override
  public Counters training() {
    return TrainingStats.of(codebooks.ready(), codebooks.samples());
  }

  @Override
  public RecallStats recall() {
    return recalls.stats();
  }

  @Override
  public List<Trouble> troubles() {
    return health.troubles(gpu(), recall());
  }
}
