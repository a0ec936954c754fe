package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.search.CpuSearches;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/** Gives the current statistics of a node. Every request calls it again. Thread-safe. */
public interface StatsSource {

  /** The state and counters of the GPU. */
  GpuStats gpu();

  /** The devices. */
  List<DeviceStats> devices();

  /** Items that readers answered without an executor. */
  CpuSearches readers();

  /** Counts of graphs, codes and codebooks in written segments. */
  BuildStatistics.Snapshot build();

  /**
   * Groups of counters beside the executor's: {@code ids}, {@code builds} and {@code samples} with
   * the bytes that are {@code used} and their {@code limit}; {@code codebooks} with the version of
   * each that is ready, and groups {@code sample_...} with counts of the sample of each codebook.
   */
  SortedMap<String, SortedMap<String, Long>> counters();

  /** The section {@code recall}. */
  Map<String, Object> recall();

  /** The present troubles. */
  List<Trouble> troubles();
}
