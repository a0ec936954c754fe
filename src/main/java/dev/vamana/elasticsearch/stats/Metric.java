package dev.vamana.elasticsearch.stats;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A part of a node's statistics that can be asked for by itself. */
public enum Metric {
  /** What the GPU is, and what its sensors say. */
  DEVICE,
  /** Whether the GPU answers searches, and why not. */
  STATE,
  /** What lies on the device. */
  RESIDENCY,
  /** Who answered queries, and in which batches. */
  EXECUTOR,
  /** Graphs and codes that were built. */
  BUILD,
  /** Codebooks and the samples that they are trained from. */
  TRAINING,
  /** Budgets of memory. */
  MEMORY,
  /** What an operator should know. */
  NOTICES;

  private static final String ALL = "_all";

  /** As requests and responses spell it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** All of them. */
  public static Set<Metric> all() {
    return EnumSet.allOf(Metric.class);
  }

  /**
   * The metrics of these names, in any case; {@code _all} stands for all.
   *
   * @param names at least one
   * @throws IllegalArgumentException if there is none of a name; the message lists those there are
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
              + "; there are ["
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
