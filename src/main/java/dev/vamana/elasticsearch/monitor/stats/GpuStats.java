package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.search.CpuSearches;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A node's state and counters of the GPU, and the sections of the statistics derived from them.
 *
 * @param state whether the GPU answers searches
 * @param counters the executor's groups of counters, by name; empty without an executor
 */
public record GpuStats(StateStats state, SortedMap<String, SortedMap<String, Long>> counters) {

  private static final String ITEMS = "items";
  private static final String RESIDENCY = "residency";
  private static final String BALANCE = "balance";

  public GpuStats {
    Objects.requireNonNull(state, "state");
    Objects.requireNonNull(counters, "counters");
  }

  /** Makes the statistics of a node without a usable GPU. */
  public static GpuStats without(String enabled, StateStats.State state, String reason) {
    return new GpuStats(
        new StateStats(enabled, state, reason, Counters.builder().build()),
        Collections.emptySortedMap());
  }

  private SortedMap<String, Long> group(String name) {
    return counters.getOrDefault(name, Collections.emptySortedMap());
  }

  private Long value(String group, String name) {
    return group(group).get(name);
  }

  /**
   * The counters of a group whose names begin with a prefix; the prefix is removed and the suffix
   * added.
   */
  private Counters withPrefix(String group, String prefix, String suffix) {
    Counters.Builder found = Counters.builder();
    group(group)
        .forEach(
            (name, value) -> {
              if (name.startsWith(prefix)) {
                found.put(name.substring(prefix.length()) + suffix, value);
              }
            });
    return found.build();
  }

  /** The segments on the device, or null without a device. */
  public Counters residency() {
    if (group(RESIDENCY).isEmpty()) {
      return null;
    }
    Counters segments = withPrefix(RESIDENCY, "segments_", "");
    SortedMap<String, Long> byPlacement = new TreeMap<>(segments.values());
    Long waiting = byPlacement.remove("waiting");
    Counters resident = Counters.of(byPlacement);
    return Counters.builder()
        .put("hits", value(RESIDENCY, "hits"))
        .put("evictions", value(RESIDENCY, "evictions"))
        .put(
            "segments",
            Counters.builder()
                .put("resident", resident.sum())
                .put("waiting", waiting)
                .put("by_placement", resident)
                .build())
        .put("device_memory", withPrefix(RESIDENCY, "bytes_", "_in_bytes"))
        .put(
            "uploads",
            Counters.builder()
                .put("count", value(RESIDENCY, "uploads"))
                .put("failures", value(RESIDENCY, "upload_failures"))
                .put("copied_in_bytes", value(RESIDENCY, "upload_bytes"))
                .put("time_in_millis", millis(value(RESIDENCY, "upload_nanos")))
                .build())
        .put("misses", withPrefix(RESIDENCY, "misses_", ""))
        .put(
            "waits",
            Counters.builder()
                .put("count", value("upload_waits", "count"))
                .put("time_in_millis", millis(value("upload_waits", "nanos")))
                .build())
        .putIfAny("balance", balance())
        .build();
  }

  /** Moves of segments between devices; empty with one. */
  private Counters balance() {
    return Counters.builder()
        .put("moves", value(BALANCE, "moves"))
        .put("moved_in_bytes", value(BALANCE, "moved_bytes"))
        .build();
  }

  /**
   * The numbers of one of several devices.
   *
   * @param routed segments that belong to it and items that were sent to it
   */
  public Counters ofDevice(Map<String, Long> routed) {
    Counters residency = residency();
    return Counters.builder()
        .put("segments", routed.get("segments"))
        .put("items", routed.get("items"))
        .putIfAny("residency", residency == null ? Counters.builder().build() : residency)
        .putIfAny("launches", launches())
        .putIfAny("memory", memory(Counters.builder().build()))
        .build();
  }

  private static Long millis(Long nanos) {
    return nanos == null ? null : Long.valueOf(nanos / 1_000_000);
  }

  /**
   * The answered queries by executor.
   *
   * @param readers searches that the readers answered without an executor
   */
  public ExecutorStats executor(CpuSearches readers) {
    Map<String, Long> onCpu = new TreeMap<>(group("items_on_cpu"));
    long asked = 0;
    asked += add(onCpu, "no_device", readers.count(CpuSearches.Reason.NO_EXECUTOR));
    asked += add(onCpu, "scan", readers.count(CpuSearches.Reason.SCAN));
    asked += add(onCpu, "lists", readers.count(CpuSearches.Reason.LISTS));
    asked += add(onCpu, "collector", readers.count(CpuSearches.Reason.COLLECTOR));
    Counters.Builder items =
        Counters.builder()
            .put("requested", asked + group(ITEMS).getOrDefault("requested", 0L))
            .put("cancelled", group(ITEMS).getOrDefault("cancelled", 0L))
            .put("repeated_on_cpu", readers.count(CpuSearches.Reason.REPEATED))
            .put("by_placement", Counters.of(group("items_by_placement")))
            .put("on_cpu", Counters.of(onCpu))
            .putIfAny("ahead", Counters.of(group("segments_ahead")))
            .putIfAny("by_plan", plans());
    return new ExecutorStats(
        items.build(),
        launches(),
        Histogram.of(group("batch_sizes")),
        Histogram.of(group("wait_micros")));
  }

  /** The executed plans with their predicted and measured times. */
  private Counters plans() {
    Counters.Builder plans = Counters.builder();
    group("plan_items")
        .forEach(
            (plan, items) ->
                plans.put(
                    plan,
                    Counters.builder()
                        .put("items", items)
                        .put("calls", value("plan_calls", plan))
                        .put("batches", value("plan_batches", plan))
                        .put("predicted_in_micros", value("plan_predicted_micros", plan))
                        .put("measured_in_micros", value("plan_measured_micros", plan))
                        .putIfAny(
                            "percent_of_predicted", Counters.of(group("plan_percent_" + plan)))
                        .build()));
    return plans.build();
  }

  private static long add(Map<String, Long> counts, String name, long more) {
    counts.merge(name, more, Long::sum);
    return more;
  }

  private Counters launches() {
    return Counters.builder()
        .put("count", value("batches", "launches"))
        .put("failed", value("batches", "failed_launches"))
        .put("in_flight", value("now", "launches_in_flight"))
        .put("items", value("batches", "items"))
        .put("parts", value("batches", "requests"))
        .put("abandoned_parts", value("batches", "abandoned_requests"))
        .put("lists_together", value("batches", "lists_together"))
        .put("copied_bitsets", value("batches", "copied_bitsets"))
        .put("processors_scarce", value("batches", "processors_scarce"))
        .put("distances", value("batches", "distances"))
        .put("steps", value("batches", "steps"))
        .put("wait_in_micros", value("batches", "wait_micros"))
        .build();
  }

  /**
   * Training, encoding and building of graphs on the device and, if the device declined, on the
   * CPU; empty without a device.
   */
  Counters building() {
    return Counters.builder()
        .put("codebooks_trained", value("training", "codebooks"))
        .put("training_time_in_millis", millis(value("training", "codebook_nanos")))
        .put("vectors_encoded", value("training", "vectors_encoded"))
        .put("encoding_time_in_millis", millis(value("training", "encode_nanos")))
        .put("vectors_assigned", value("training", "vectors_assigned"))
        .put("assignment_time_in_millis", millis(value("training", "assign_nanos")))
        .putIfAny("on_cpu", Counters.of(group("training_on_cpu")))
        .put("graphs_built", value("graphs", "graphs"))
        .put("graph_time_in_millis", millis(value("graphs", "nanos")))
        .put("graphs_in_host_memory", value("graphs", "in_host_memory"))
        .putIfAny("graphs_on_cpu", Counters.of(group("graphs_on_cpu")))
        .build();
  }

  /** As {@link #memory(Counters, Counters, Counters)}, with the breaker only. */
  public Counters memory(Counters breaker) {
    Counters none = Counters.builder().build();
    return memory(breaker, none, none);
  }

  /**
   * Memory of the device and of the host that serves it. Without a device, it has only what is
   * given.
   *
   * @param breaker limit and use of the circuit breaker
   * @param ids limit and use of the heap for ids
   * @param builds limit and use of the native memory of builds
   */
  public Counters memory(Counters breaker, Counters ids, Counters builds) {
    return Counters.builder()
        .putIfAny("device", budget("device_bytes", "device_limit_bytes"))
        .putIfAny(
            "scratch",
            Counters.builder().put("used_in_bytes", value(RESIDENCY, "scratch_bytes")).build())
        .putIfAny("page_cache", budget("page_cache_bytes", "page_cache_limit_bytes"))
        .putIfAny(
            "staging",
            Counters.builder()
                .put("used_in_bytes", value("now", "staging_bytes"))
                .put("limit_in_bytes", value("now", "staging_limit_bytes"))
                .build())
        .putIfAny(
            "counted",
            Counters.builder().put("used_in_bytes", value("now", "host_memory_bytes")).build())
        .putIfAny("breaker", breaker)
        .putIfAny("ids", ids)
        .putIfAny("builds", builds)
        .build();
  }

  private Counters budget(String used, String limit) {
    return Counters.builder()
        .put("used_in_bytes", value(RESIDENCY, used))
        .put("limit_in_bytes", value(RESIDENCY, limit))
        .build();
  }
}
