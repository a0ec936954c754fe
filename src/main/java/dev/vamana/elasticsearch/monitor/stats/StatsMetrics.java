package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.openmetrics.Exposition;
import dev.vamana.elasticsearch.monitor.openmetrics.Family;
import dev.vamana.elasticsearch.monitor.openmetrics.Labels;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The statistics of nodes as OpenMetrics. A section of its own is a method with the section, which
 * {@link #addNode} calls, and families beside it; numbers of {@link Counters} are rows of {@link
 * CounterTables}.
 */
final class StatsMetrics {

  private static final Family NODES =
      Family.of(
          Family.Type.GAUGE, "vamana_nodes", "Nodes that were asked, by whether they answered.");
  private static final Family SINCE =
      new Family(
          "vamana_counting_since_seconds",
          Family.Type.GAUGE,
          "seconds",
          "When the counters of the node were 0, in seconds since 1970.");
  private static final Family TAKEN =
      new Family(
          "vamana_counted_until_seconds",
          Family.Type.GAUGE,
          "seconds",
          "When the statistics were taken, in seconds since 1970.");

  private static final Family DEVICE =
      Family.of(Family.Type.INFO, "vamana_device", "The GPU, as its driver describes it.");
  private static final Family MULTIPROCESSORS =
      Family.of(Family.Type.GAUGE, "vamana_device_multiprocessors", "Multiprocessors of the GPU.");
  private static final Family DEVICE_BYTES =
      new Family("vamana_device_memory_bytes", Family.Type.GAUGE, "bytes", "Memory of the device.");
  private static final Family DEVICE_USED =
      new Family(
          "vamana_device_memory_used_bytes",
          Family.Type.GAUGE,
          "bytes",
          "Memory of the device in use, other processes included.");
  private static final Family UTILIZATION =
      new Family(
          "vamana_device_utilization_ratio",
          Family.Type.GAUGE,
          "ratio",
          "Share of the last sample period in which a kernel ran.");
  private static final Family POWER =
      new Family(
          "vamana_device_power_watts", Family.Type.GAUGE, "watts", "Power that the GPU draws.");
  private static final Family TEMPERATURE =
      new Family(
          "vamana_device_temperature_celsius",
          Family.Type.GAUGE,
          "celsius",
          "Temperature of the chip.");

  private static final Family GPU =
      Family.of(Family.Type.INFO, "vamana_gpu", "The setting vamana.gpu.enabled.");
  private static final Family STATE =
      Family.of(Family.Type.STATESET, "vamana_gpu_state", "State of the GPU of the node.");
  private static final Family USABLE =
      Family.of(
          Family.Type.GAUGE, "vamana_gpu_usable", "1 if the GPU answers searches, otherwise 0.");

  private static final Family DEVICE_USABLE =
      Family.of(
          Family.Type.GAUGE,
          "vamana_device_usable",
          "1 if one of several devices answers searches, otherwise 0.");

  private static final Family RATIOS =
      new Family(
          "vamana_plan_measured_to_predicted_ratio",
          Family.Type.HISTOGRAM,
          "ratio",
          "Calls of the executor by measured time in parts of the predicted time.");
  private static final Family BATCHES =
      new Family(
          "vamana_launch_items",
          Family.Type.HISTOGRAM,
          "items",
          "Launches by their number of items.");
  private static final Family WAITS =
      new Family(
          "vamana_launch_wait_seconds",
          Family.Type.HISTOGRAM,
          "seconds",
          "Parts of launches by the time they waited, in whole microseconds.");

  private static final Family TROUBLES =
      Family.of(Family.Type.GAUGE, "vamana_troubles", "What is wrong now, by kind.");

  private static final int MILLI = 3;
  private static final int MICRO = 6;
  private static final int PERCENT = 2;

  private final Exposition exposition = new Exposition();
  private final String cluster;

  private StatsMetrics(String cluster) {
    this.cluster = cluster;
  }

  /** Renders the statistics of all nodes that answered. */
  static Exposition of(StatsResponse response) {
    StatsMetrics metrics = new StatsMetrics(response.getClusterName().value());
    metrics.addCounts(response.getNodes().size(), response.failures().size());
    response.getNodes().forEach(metrics::addNode);
    return metrics.exposition;
  }

  private void addCounts(int answered, int failed) {
    Labels labels = Labels.NONE.and("cluster", cluster);
    exposition.add(NODES, labels.and("result", "successful"), answered);
    exposition.add(NODES, labels.and("result", "failed"), failed);
  }

  private void addNode(NodeStats stats) {
    Labels labels =
        Labels.NONE
            .and("cluster", cluster)
            .and("node", stats.getNode().getId())
            .and("node_name", stats.getNode().getName());
    exposition.add(SINCE, labels, BigDecimal.valueOf(stats.times().since(), MILLI));
    exposition.add(TAKEN, labels, BigDecimal.valueOf(stats.times().timestamp(), MILLI));
    NodeStats.Sections sections = stats.sections();
    if (sections.device() != null && sections.devices().isEmpty()) {
      addDevice(labels, sections.device());
    }
    for (DeviceSection each : sections.devices()) {
      addDevice(labels, each.device());
      Labels own = labels.and("device", Integer.toString(each.device().ordinal()));
      exposition.add(DEVICE_USABLE, own, each.state().state() == StateStats.State.READY ? 1 : 0);
      addCounters(CounterTables.DEVICES, own, each.counters());
    }
    if (sections.state() != null) {
      addState(labels, sections.state());
    }
    addCounters(CounterTables.RESIDENCY, labels, sections.residency());
    if (sections.executor() != null) {
      addExecutor(labels, sections.executor());
    }
    addCounters(CounterTables.BUILD, labels, sections.build());
    addCounters(CounterTables.TRAINING, labels, sections.training());
    addCounters(CounterTables.MEMORY, labels, sections.memory());
    if (sections.recall() != null) {
      RecallMetrics.add(exposition, labels, sections.recall());
    }
    if (sections.health() != null) {
      addTroubles(labels, sections.health());
    }
  }

  private void addCounters(CounterTable table, Labels labels, Counters counters) {
    if (counters != null) {
      table.addTo(exposition, labels, counters);
    }
  }

  private void addDevice(Labels node, DeviceStats device) {
    DeviceStats.Sensors sensors = device.sensors();
    Labels labels = node.and("device", Integer.toString(device.ordinal()));
    Labels described =
        labels
            .and("name", device.name())
            .and("compute_capability", device.computeCapabilityLabel())
            .and("cuda_version", device.cudaVersionLabel());
    if (device.uuid() != null) {
      described = described.and("uuid", device.uuid());
    }
    exposition.addInfo(
        DEVICE,
        sensors.driverVersion() == null
            ? described
            : described.and("driver_version", sensors.driverVersion()));
    exposition.add(MULTIPROCESSORS, labels, device.multiprocessors());
    exposition.add(DEVICE_BYTES, labels, device.totalBytes());
    addIfKnown(DEVICE_USED, labels, sensors.usedBytes(), 0);
    addIfKnown(UTILIZATION, labels, sensors.utilizationPercent(), PERCENT);
    addIfKnown(POWER, labels, sensors.powerMilliwatts(), MILLI);
    addIfKnown(TEMPERATURE, labels, sensors.temperatureCelsius(), 0);
  }

  private void addIfKnown(Family family, Labels labels, Number value, int decimals) {
    if (value != null) {
      exposition.add(family, labels, BigDecimal.valueOf(value.longValue(), decimals));
    }
  }

  private void addState(Labels labels, StateStats state) {
    List<String> states =
        Arrays.stream(StateStats.State.values()).map(StateStats.State::label).toList();
    exposition.addInfo(GPU, labels.and("enabled", state.enabled()));
    exposition.addState(STATE, labels, states, state.state().label());
    exposition.add(USABLE, labels, state.state() == StateStats.State.READY ? 1 : 0);
    addCounters(CounterTables.CONTEXTS, labels, state.contexts());
  }

  private void addExecutor(Labels labels, ExecutorStats executor) {
    addCounters(CounterTables.ITEMS, labels, executor.items());
    Counters plans = executor.items().groups().get("by_plan");
    if (plans != null) {
      plans.groups().forEach((plan, own) -> addRatios(labels.and("plan", plan), own));
    }
    Counters launches = executor.launches();
    addCounters(CounterTables.LAUNCHES, labels, launches);
    if (launches.values().isEmpty() == false) {
      addHistogram(BATCHES, labels, executor.batchSizes(), 0, launches.values().get("items"));
      addHistogram(WAITS, labels, executor.waits(), MICRO, launches.values().get("wait_in_micros"));
    }
  }

  private void addRatios(Labels labels, Counters plan) {
    Counters ratios = plan.groups().get("percent_of_predicted");
    if (ratios != null) {
      addHistogram(RATIOS, labels, Histogram.of(ratios.values()).buckets(), PERCENT, null);
    }
  }

  private void addHistogram(
      Family family, Labels labels, Histogram histogram, int decimals, Long sum) {
    addHistogram(family, labels, histogram.withEmptyBuckets(), decimals, sum);
  }

  private void addHistogram(
      Family family, Labels labels, List<Histogram.Bucket> buckets, int decimals, Long sum) {
    SortedMap<BigDecimal, Long> counts = new TreeMap<>();
    long beyond = 0;
    for (Histogram.Bucket bucket : buckets) {
      if (bucket.upTo() == Long.MAX_VALUE) {
        beyond += bucket.count();
      } else {
        counts.merge(BigDecimal.valueOf(bucket.upTo(), decimals), bucket.count(), Long::sum);
      }
    }
    exposition.addHistogram(
        family, labels, counts, beyond, sum == null ? null : BigDecimal.valueOf(sum, decimals));
  }

  /** All kinds are told always, so that the first trouble of a kind is seen as a change. */
  private void addTroubles(Labels labels, List<Trouble> troubles) {
    for (Trouble.Kind kind : Trouble.Kind.values()) {
      long count = troubles.stream().filter(trouble -> trouble.kind() == kind).count();
      exposition.add(TROUBLES, labels.and("kind", kind.label()), count);
    }
  }
}
