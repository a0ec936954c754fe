package dev.vamana.elasticsearch;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.elasticsearch.notices.NodeNotices;
import dev.vamana.elasticsearch.stats.DeviceStats;
import dev.vamana.elasticsearch.stats.GpuStats;
import dev.vamana.elasticsearch.stats.StatsSource;

/**
 * The parts of a node that its statistics tell of.
 *
 * @param executor who answers searches
 * @param building who writes segments
 * @param noted what an operator should know
 */
record NodeStatsSource(NodeExecutor executor, BuildStatistics building, NodeNotices noted)
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
  public BuildStatistics.Snapshot build() {
    return building.snapshot();
  }

  @Override
  public NodeNotices.Snapshot notices() {
    return noted.snapshot();
  }
}
