package dev.vamana.elasticsearch.monitor.stats;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;

/**
 * Whether a GPU answers a node's searches, and the counters of its executor.
 *
 * @param enabled value of the setting {@code vamana.gpu.enabled}
 * @param now state of the GPU
 * @param reason why the GPU does not answer searches, or which of several have failed; null if
 *     there is none
 * @param counters the executor's groups of counters, by name; empty without an executor
 */
public record GpuStats(
    String enabled, State now, String reason, SortedMap<String, SortedMap<String, Long>> counters) {

  /** The states of a node's GPU. */
  public enum State {
    /** The node's settings switch the GPU off. */
    OFF,
    /** There was no usable GPU when the node started. */
    UNAVAILABLE,
    /** The GPU answers searches. */
    READY,
    /** The GPU tests itself for the first time; the CPU answers meanwhile. */
    TESTING,
    /** The GPU has failed; the CPU answers until the next attempt succeeds. */
    FAILED
  }

  public GpuStats {
    Objects.requireNonNull(enabled, "enabled");
    Objects.requireNonNull(now, "now");
    Objects.requireNonNull(counters, "counters");
  }

  /** Makes the statistics of a node without a usable GPU. */
  public static GpuStats without(String enabled, State now, String reason) {
    return new GpuStats(enabled, now, reason, Collections.emptySortedMap());
  }

  /** Returns a counter, or 0 if there is none of this name. */
  public long counter(String group, String name) {
    SortedMap<String, Long> values = counters.get(group);
    return values == null ? 0 : values.getOrDefault(name, 0L);
  }

  /** The state of the GPU, for the section {@code state}; counters are added elsewhere. */
  Map<String, Object> state() {
    Map<String, Object> state = new LinkedHashMap<>();
    state.put("enabled", enabled);
    state.put("state", now.name().toLowerCase(Locale.ROOT));
    state.put("usable", now == State.READY);
    if (reason != null) {
      state.put("reason", reason);
    }
    return state;
  }
}
