package dev.vamana.cuda.api;

import dev.vamana.cuda.driver.DeviceInfo;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A snapshot of an executor's counters and state. Counters only grow, except in the groups {@code
 * now} and {@code residency}, which also contain current values.
 *
 * @param state whether the device answers now
 * @param reason why the device does not answer, or null
 * @param device the device in use, or the last one
 * @param counters groups of counters by name: {@code batches}, {@code items}, {@code
 *     items_by_placement}, {@code items_on_cpu} by {@link FallbackReason}, {@code plan_batches},
 *     {@code plan_calls} and {@code plan_items} by {@link dev.vamana.cuda.plan.Plan}, {@code
 *     upload_waits}, {@code contexts}, {@code now}, {@code residency}
 */
public record GpuStatistics(
    State state,
    String reason,
    DeviceInfo device,
    SortedMap<String, SortedMap<String, Long>> counters) {

  /** The states of a device. */
  public enum State {
    /** The device answers. */
    READY,
    /** The device tests itself for the first time; the CPU answers meanwhile. */
    TESTING,
    /** The device has failed; the CPU answers until the next attempt succeeds. */
    FAILED
  }

  /** Copies the counters. */
  public GpuStatistics {
    SortedMap<String, SortedMap<String, Long>> copy = new TreeMap<>();
    counters.forEach(
        (group, values) ->
            copy.put(group, Collections.unmodifiableSortedMap(new TreeMap<>(values))));
    counters = Collections.unmodifiableSortedMap(copy);
  }

  /** Whether the device answers now. */
  public boolean usable() {
    return state == State.READY;
  }

  /** Returns a counter, or 0 if there is none of this name. */
  public long counter(String group, String name) {
    SortedMap<String, Long> values = counters.get(group);
    return values == null ? 0 : values.getOrDefault(name, 0L);
  }
}
