package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.search.CpuSearches;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The figures of a node. docs/operators/statistics.md explains them. */
final class NodeFigures {

  /** The sections of a node's statistics, in the order of answers. */
  static final List<String> SECTIONS =
      List.of(
          "state",
          "devices",
          "residency",
          "executor",
          "build",
          "training",
          "memory",
          "recall",
          "health");

  private static final Figures NODE =
      new Figures(
          "vamana",
          """
          state                                     | info    | enabled, state               | The setting vamana.gpu.enabled, and the state of the GPU.
          state.usable                              | gauge   |                              | 1 if the GPU answers searches, otherwise 0.
          state.contexts.opened                     | counter | contexts/opened              | Contexts of the driver opened.
          state.contexts.lost                       | counter | contexts/lost                | Contexts of the driver lost.
          state.contexts.failed_attempts            | counter | contexts/failed_attempts     | Attempts to open a context that failed.
          state.contexts.wrong_answers              | counter | contexts/wrong_answers       | Wrong answers, after which a context was given up.
          residency.segments.by_placement.<placement> | gauge | residency/segments_<placement> | Open segments on the device.
          residency.segments.waiting                | gauge   | residency/segments_waiting   | Segments queued for the device.
          residency.uploads.count                   | counter | residency/uploads            | Segments brought to the device.
          residency.uploads.failures                | counter | residency/upload_failures    | Uploads that failed.
          residency.uploads.copied_in_bytes         | counter | residency/upload_bytes       | Bytes of all uploads.
          residency.uploads.time_in_millis          | counter | residency/upload_nanos       | Time of all uploads.
          residency.evictions                       | counter | residency/evictions          | Segments that made room for others.
          residency.hits                            | counter | residency/hits               | Lookups that found the segment on the device.
          residency.misses.<reason>                 | counter | residency/misses_<reason>    | Lookups that did not find the segment on the device.
          residency.waits.count                     | counter | upload_waits/count           | Lookups that waited for an upload.
          residency.waits.time_in_millis            | counter | upload_waits/nanos           | Time of lookups waiting for an upload.
          residency.moves                           | counter | balance/moves                | Segments moved between devices.
          residency.copies                          | counter | balance/copies               | Segments copied to a second device.
          executor.items.requested                  | counter | items/requested              | Items of searches: a query in a segment.
          executor.items.by_placement.<placement>   | counter | items_by_placement/<placement> | Items that the GPU answered, by the placement of the segment.
          executor.items.on_cpu.<reason>            | counter | items_on_cpu/<reason>        | Items that the CPU answered, and why.
          executor.items.by_plan.<plan>             | counter | plan_items/<plan>            | Items that each plan answered.
          executor.items.cancelled                  | counter | items/cancelled              | Items whose search was stopped.
          executor.items.ahead.sent                 | counter | segments_ahead/sent          | Items sent before they were asked.
          executor.items.ahead.used                 | counter | segments_ahead/used          | Items sent ahead, and used.
          executor.launches.count                   | counter | batches/launches             | Kernels started.
          executor.launches.failed                  | counter | batches/failed_launches      | Kernels that could not be started.
          executor.launches.items                   | counter | batches/items                | Items in all launches.
          executor.launches.parts                   | counter | batches/requests             | Parts of launches: items of one call.
          executor.launches.wait_in_millis          | counter | batches/wait_micros          | Time that all parts waited for their launch.
          build.graphs.count                        | counter | build/graphs                 | Graphs built and written.
          build.graphs.time_in_millis               | counter | build/graph_nanos            | Time of graphs.
          build.graphs.nodes_inserted               | counter | build/nodes_inserted         | Vectors inserted into graphs by a search.
          build.graphs.nodes_reused                 | counter | build/nodes_reused           | Vectors that kept their row of a merged graph.
          build.codes.count                         | counter | build/codes                  | Fields of segments that got codes.
          build.codes.time_in_millis                | counter | build/code_nanos             | Time of codes, with training.
          build.lists.count                         | counter | build/lists                  | Fields of segments that got lists.
          build.lists.time_in_millis                | counter | build/list_nanos             | Time of lists, with training.
          build.codebooks.shared                    | counter | build/codebooks_shared       | Fields with a shared codebook.
          build.codebooks.kept                      | counter | build/codebooks_kept         | Fields with the codebook of a merged segment.
          build.codebooks.trained                   | counter | build/codebooks_trained      | Fields with a codebook trained for the segment.
          build.codebooks.not_shared.<reason>       | counter | build/not_shared_<reason>    | Fields without a shared codebook, and why.
          build.gpu.graphs.count                    | counter | graphs/graphs                | Graphs built on the GPU.
          build.gpu.graphs.time_in_millis           | counter | graphs/nanos                 | Time of building graphs on the GPU.
          build.gpu.graphs.on_cpu.<reason>          | counter | graphs_on_cpu/<reason>       | Graphs that the CPU built in place of the GPU, and why.
          build.gpu.codebooks.count                 | counter | training/codebooks           | Codebooks trained on the GPU.
          build.gpu.codebooks.time_in_millis        | counter | training/codebook_nanos      | Time of training on the GPU.
          build.gpu.codebooks.on_cpu.<reason>       | counter | training_on_cpu/<reason>     | Trainings and encodings that the CPU did, and why.
          build.aborted                             | counter | build/aborted                | Graphs and codes whose merge was aborted.
          build.failed                              | counter | build/failed                 | Graphs and codes that failed.
          training.codebooks.<codebook>.version     | gauge   | codebooks/<codebook>         | Newest version of the codebook that is ready on the node.
          training.samples.<codebook>.documents     | gauge   | sample_documents/<codebook>  | Vectors that could be sampled.
          training.samples.<codebook>.sampled       | gauge   | sample_vectors/<codebook>    | Vectors in the sample.
          training.samples.<codebook>.rejected      | gauge   | sample_rejected/<codebook>   | Documents without the field, whose value is no vector of the codebook's kind, or of other options.
          training.samples.<codebook>.missed        | gauge   | sample_missed/<codebook>     | Vectors for which there was no memory.
          memory.device.used_in_bytes               | gauge   | residency/device_bytes       | Device memory in use for segments, searches and builds.
          memory.device.limit_in_bytes              | gauge   | residency/device_limit_bytes | Most device memory for these.
          memory.scratch.used_in_bytes              | gauge   | residency/scratch_bytes      | The part of the device memory that is not segments.
          memory.page_cache.used_in_bytes           | gauge   | residency/page_cache_bytes   | Page cache that is pinned.
          memory.page_cache.limit_in_bytes          | gauge   | residency/page_cache_limit_bytes | Most page cache that may be pinned.
          memory.staging.used_in_bytes              | gauge   | now/staging_bytes            | Pinned memory for queries and results.
          memory.staging.limit_in_bytes             | gauge   | now/staging_limit_bytes      | Most pinned memory for queries and results.
          memory.ids.used_in_bytes                  | gauge   | ids/used                     | Heap for ids that batched searches keep.
          memory.ids.limit_in_bytes                 | gauge   | ids/limit                    | Most heap for ids that batched searches keep.
          memory.builds.used_in_bytes               | gauge   | builds/used                  | Native memory of graphs under construction.
          memory.builds.limit_in_bytes              | gauge   | builds/limit                 | Most native memory of graphs under construction.
          memory.builds.files                       | counter | builds/files                 | Temporary files for what builds had no memory for.
          memory.samples.used_in_bytes              | gauge   | samples/used                 | Heap for samples and trainings of shared codebooks.
          memory.samples.limit_in_bytes             | gauge   | samples/limit                | Most heap for samples and trainings of shared codebooks.
          recall.evaluated                          | counter |                              | Searches whose recall was measured.
          recall.time_in_millis                     | counter |                              | Time that these measurements took.
          recall.skipped.<reason>                   | counter |                              | Drawn searches whose recall was not measured, and why.
          health.<kind>                             | gauge   |                              | What is wrong now, by kind.
          """);

  private static final Figures DEVICE =
      new Figures(
          "vamana_device",
          """
                                  | info    | uuid, name, compute_capability, cuda_version | The GPU, as its driver describes it.
          usable                  | gauge   |                              | 1 if the device answers searches, otherwise 0.
          memory_total_in_bytes   | gauge   |                              | Memory of the device.
          segments                | gauge   | routed/segments              | Segments that belong to one of several devices.
          items                   | counter | routed/items                 | Items sent to one of several devices.
          launches                | counter | batches/launches             | Kernels started on the device.
          used_in_bytes           | gauge   | residency/device_bytes       | Memory of the device in use for segments, searches and builds.
          limit_in_bytes          | gauge   | residency/device_limit_bytes | Most memory of the device for these.
          """);

  private static final Figures SEARCHES =
      new Figures(
          "vamana_searches",
          """
          queries     | gauge | | Searches that the recall is the mean of.
          recall      | gauge | | Mean recall of the searches of a field, from 0 to 1.
          recall_low  | gauge | | Lower end of the recall's interval.
          recall_high | gauge | | Upper end of the recall's interval.
          """);

  private NodeFigures() {}

  /**
   * Returns the tree of a node's statistics.
   *
   * @param asked some of {@link #SECTIONS}; other names are ignored
   */
  static Map<String, Object> tree(Set<String> asked, StatsSource source) {
    Map<String, Object> tree = new LinkedHashMap<>();
    GpuStats gpu = source.gpu();
    SortedMap<String, SortedMap<String, Long>> counters = counters(gpu, source);
    for (String section : SECTIONS) {
      if (asked.contains(section) == false) {
        continue;
      }
      switch (section) {
        case "state" -> tree.put(section, gpu.state());
        case "devices" ->
            tree.put(section, source.devices().stream().map(NodeFigures::of).toList());
        case "recall" -> tree.put(section, source.recall());
        case "health" ->
            tree.put(section, source.troubles().stream().map(Trouble::members).toList());
        default -> {}
      }
      NODE.read(tree, section, counters);
    }
    return tree;
  }

  private static Map<String, Object> of(DeviceStats device) {
    Map<String, Object> described = device.described();
    DEVICE.read(described, null, device.statistics().counters());
    return described;
  }

  private static SortedMap<String, SortedMap<String, Long>> counters(
      GpuStats gpu, StatsSource source) {
    SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>(gpu.counters());
    groups.putAll(source.counters());
    groups.put("build", build(source.build()));
    CpuSearches readers = source.readers();
    add(groups, "no_device", readers.count(CpuSearches.Reason.NO_EXECUTOR));
    add(groups, "scan", readers.count(CpuSearches.Reason.SCAN));
    add(groups, "lists", readers.count(CpuSearches.Reason.LISTS));
    add(groups, "labels", readers.count(CpuSearches.Reason.LABELS));
    add(groups, "collector", readers.count(CpuSearches.Reason.COLLECTOR));
    return groups;
  }

  /** Adds items that readers answered without an executor. */
  private static void add(
      SortedMap<String, SortedMap<String, Long>> groups, String reason, long count) {
    merge(groups, "items_on_cpu", reason, count);
    merge(groups, "items", "requested", count);
  }

  private static void merge(
      SortedMap<String, SortedMap<String, Long>> groups, String group, String name, long count) {
    SortedMap<String, Long> sums = new TreeMap<>(groups.getOrDefault(group, new TreeMap<>()));
    sums.merge(name, count, Long::sum);
    groups.put(group, sums);
  }

  private static SortedMap<String, Long> build(BuildStatistics.Snapshot built) {
    SortedMap<String, Long> build = new TreeMap<>();
    build.put("graphs", built.graphs());
    build.put("graph_nanos", built.graphNanos());
    build.put("nodes_inserted", built.nodesInserted());
    build.put("nodes_reused", built.nodesReused());
    build.put("codes", built.quantizations());
    build.put("code_nanos", built.quantizationNanos());
    build.put("lists", built.lists());
    build.put("list_nanos", built.listNanos());
    build.put("codebooks_shared", built.codebooksShared());
    build.put("codebooks_kept", built.codebooksKept());
    build.put("codebooks_trained", built.codebooksTrained());
    build.put("not_shared_none_named", built.ownNoneNamed());
    build.put("not_shared_not_ready", built.ownNotReady());
    build.put("not_shared_does_not_fit", built.ownDoesNotFit());
    build.put("aborted", built.aborted());
    build.put("failed", built.failed());
    return build;
  }

  /** Adds the figures of a node's tree as OpenMetrics. */
  static void addTo(OpenMetrics text, Map<String, String> labels, Map<String, Object> tree) {
    NODE.addTo(text, labels, tree);
    for (Map<?, ?> device : list(tree.get("devices"))) {
      DEVICE.addTo(text, Figures.with(labels, "device", device.get("ordinal").toString()), device);
    }
    Map<?, ?> recall = (Map<?, ?>) tree.getOrDefault("recall", Map.of());
    for (Map<?, ?> row : list(recall.get("searches"))) {
      Map<String, String> searches = labels;
      for (String name : List.of("index", "field", "k")) {
        searches = Figures.with(searches, name, row.get(name).toString());
      }
      SEARCHES.addTo(text, searches, row);
    }
  }

  /** The objects of a list; none if there is no list. */
  static List<Map<?, ?>> list(Object entries) {
    List<Map<?, ?>> list = new ArrayList<>();
    if (entries != null) {
      ((List<?>) entries).forEach(entry -> list.add((Map<?, ?>) entry));
    }
    return list;
  }
}
