package dev.vamana.elasticsearch.monitor.stats;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A section of a node's statistics that a request can select. */
public enum Metric {
  /** The GPU and its sensors. */
  DEVICE,
  /** Whether the GPU answers searches, and the reason if it does not. */
  STATE,
  /** The segments on the device. */
  RESIDENCY,
  /** The answered queries by executor, and their batches. */
  EXECUTOR,
  /** Graphs and codes that were built. */
  BUILD,
  /** Codebooks, and the samples for training them. */
  TRAINING,
  /** Limits and use of memory. */
  MEMORY,
  /** The recall of sampled searches. */
  RECALL,
  /** What is wrong now. */
  HEALTH,
  /** Each of several GPUs. */
  DEVICES;

  private static final String ALL = "_all";

  /** The name in requests and responses. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns all metrics. */
  public static Set<Metric> all() {
    return EnumSet.allOf(Metric.class);
  }

  /**
   * Returns the metrics with the given names, in lower case; {@code _all} stands for all.
   *
   * @param names at least one name
   * @throws IllegalArgumentException if a name is unknown; the message lists the known names
   */
  public static Set<Metric> of(List<String> names) {
    Set<Metric> metrics = EnumSet.noneOf(Metric.class);
    Set<String> unknown = new TreeSet<>();
    for (String name : names) {
      if (name.equals(ALL)) {
        metrics.addAll(all());
        continue;
      }
      Arrays.stream(values())
          .filter(metric -> metric.label().equals(name))
          .findAny()
          .ifPresentOrElse(metrics::add, () -> unknown.add(name));
    }
    if (unknown.isEmpty() == false || metrics.isEmpty()) {
      throw new IllegalArgumentException(
          "path parameter [metric] has unknown metrics "
              + unknown
              + "; known are ["
              + ALL
              + ", "
              + Arrays.stream(values())
                  .map(Metric::label)
                  .sorted()
                  .collect(Collectors.joining(", "))
              + "]");
    }
    return metrics;
  }
}
