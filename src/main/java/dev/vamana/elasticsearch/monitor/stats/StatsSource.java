package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.recall.RecallStats;
import java.util.List;

/** Gives the current statistics of a node. Every request calls it again. Thread-safe. */
public interface StatsSource {

  /** The state and counters of the GPU. */
  GpuStats gpu();

  /**
   * The device and its sensors, or null if there is none. Calls a library of the driver, which may
   * block.
   */
  DeviceStats device();

  /** Each of several devices, as {@link #device}; empty with one. */
  default List<DeviceSection> devices() {
    return List.of();
  }

  /** Counts of graphs, codes and codebooks in written segments. */
  BuildStatistics.Snapshot build();

  /** Limit and use of the circuit breaker. */
  Counters breaker();

  /** Limit and use of the heap for ids that batched searches keep. */
  Counters ids();

  /** Limit and use of the native memory of graphs under construction. */
  Counters builds();

  /** Codebooks and samples. */
  Counters training();

  /** Recall of sampled searches. */
  RecallStats recall();

  /** What is wrong now. */
  List<Trouble> troubles();
}
