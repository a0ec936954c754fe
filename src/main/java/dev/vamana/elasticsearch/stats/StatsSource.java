package dev.vamana.elasticsearch.stats;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.elasticsearch.notices.NodeNotices;

/** Where a node's statistics come from. Each is asked anew for each request. Thread-safe. */
public interface StatsSource {

  /** What the node knows of its GPU. */
  GpuStats gpu();

  /** The device and its sensors, or null if there is none. Asks a library of the driver's. */
  DeviceStats device();

  /** What writing segments has done. */
  BuildStatistics.Snapshot build();

  /** Limit and use of the circuit breaker. */
  Counters breaker();

  /** Codebooks and samples. */
  Counters training();

  /** What an operator should know. */
  NodeNotices.Snapshot notices();
}
