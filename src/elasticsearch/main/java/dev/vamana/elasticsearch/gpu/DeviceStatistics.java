package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.api.GpuStatistics.State;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.elasticsearch.monitor.stats.GpuStats;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes a node's statistics from the statistics of its devices.
 *
 * @param enabled value of {@code vamana.gpu.enabled}
 * @param residency memory limits, for a device that has loaded nothing yet; or null
 */
record DeviceStatistics(String enabled, ResidencyOptions residency) {

  private static final String RESIDENCY = "residency";

  /** The statistics of a node with one device. */
  GpuStats of(GpuStatistics device) {
    return new GpuStats(
        enabled, of(device.state()), device.reason(), withLimits(device, residency).counters());
  }

  /**
   * The statistics of a node with several devices: sums over all.
   *
   * @param balance counts of moves between devices
   */
  GpuStats of(List<GpuStatistics> devices, SortedMap<String, Long> balance) {
    SortedMap<String, SortedMap<String, Long>> sums = new TreeMap<>();
    for (GpuStatistics device : devices) {
      withLimits(device, residency)
          .counters()
          .forEach(
              (group, counters) -> {
                SortedMap<String, Long> sum = sums.computeIfAbsent(group, name -> new TreeMap<>());
                counters.forEach((name, value) -> sum.merge(name, value, Long::sum));
              });
    }
    sums.put("balance", balance);
    List<State> states = devices.stream().map(GpuStatistics::state).toList();
    State now =
        Stream.of(State.READY, State.FAILED)
            .filter(states::contains)
            .findFirst()
            .orElse(State.TESTING);
    State told = now == State.TESTING ? State.TESTING : State.FAILED;
    String reason =
        devices.stream()
            .filter(device -> device.state() == told)
            .map(device -> "device " + device.device().ordinal() + ": " + device.reason())
            .collect(Collectors.joining("; "));
    return new GpuStats(enabled, of(now), reason.isEmpty() ? null : reason, sums);
  }

  private static GpuStats.State of(State device) {
    return GpuStats.State.valueOf(device.name());
  }

  /** Adds the memory limits to the counters, also if nothing has been loaded yet. */
  static GpuStatistics withLimits(GpuStatistics statistics, ResidencyOptions residency) {
    if (residency == null || statistics.usable() == false) {
      return statistics;
    }
    SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>(statistics.counters());
    SortedMap<String, Long> counters =
        new TreeMap<>(groups.getOrDefault(RESIDENCY, Collections.emptySortedMap()));
    counters.putIfAbsent("device_bytes", 0L);
    counters.putIfAbsent(
        "device_limit_bytes", residency.deviceLimit().of(statistics.device().totalBytes()));
    counters.putIfAbsent("page_cache_bytes", 0L);
    counters.putIfAbsent(
        "page_cache_limit_bytes", residency.pageCacheLimit().of(residency.hostBytes()));
    groups.put(RESIDENCY, counters);
    return new GpuStatistics(statistics.state(), statistics.reason(), statistics.device(), groups);
  }
}
