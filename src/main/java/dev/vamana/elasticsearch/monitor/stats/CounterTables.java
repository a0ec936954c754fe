package dev.vamana.elasticsearch.monitor.stats;

/**
 * The OpenMetrics families of the metrics that consist of counters; docs/operators/openmetrics.md
 * lists them.
 */
final class CounterTables {

  private CounterTables() {}

  /** Of {@code state.contexts}. */
  static final CounterTable CONTEXTS =
      CounterTable.builder()
          .counter("opened", "vamana_gpu_contexts_opened", "Contexts of the driver opened.")
          .counter("lost", "vamana_gpu_contexts_lost", "Contexts of the driver lost.")
          .counter(
              "failed_attempts",
              "vamana_gpu_contexts_not_opened",
              "Attempts to open a context that failed.")
          .counter(
              "questioned",
              "vamana_gpu_contexts_questioned",
              "Rounds of known questions that contexts answered.")
          .counter(
              "questioned_in_micros",
              "vamana_gpu_contexts_questioned_seconds",
              "Time of known questions.")
          .counter(
              "wrong_answers",
              "vamana_gpu_contexts_wrong_answers",
              "Rounds of known questions with a wrong answer.")
          .counter(
              "questions_left_out",
              "vamana_gpu_contexts_questions_left_out",
              "Known questions for which the device has no kernel.")
          .counter(
              "questions_failed",
              "vamana_gpu_contexts_questions_failed",
              "Rounds of known questions that a context in use did not answer.")
          .build();

  /** Of {@code residency}. */
  static final CounterTable RESIDENCY =
      CounterTable.builder()
          .gauges(
              "segments.by_placement.*",
              "vamana_resident_segments",
              "placement",
              "Open segments on the device.")
          .gauge("segments.waiting", "vamana_waiting_segments", "Segments queued for the device.")
          .gauges(
              "device_memory.*_in_bytes",
              "vamana_resident_segments_bytes",
              "placement",
              "Device memory of the segments on the device.")
          .counter("uploads.count", "vamana_uploads", "Segments brought to the device.")
          .counter("uploads.failures", "vamana_uploads_failed", "Uploads that failed.")
          .counter("uploads.copied_in_bytes", "vamana_uploads_bytes", "Bytes of all uploads.")
          .counter("uploads.time_in_millis", "vamana_uploads_seconds", "Time of all uploads.")
          .counter("evictions", "vamana_evictions", "Segments that made room for others.")
          .counter("hits", "vamana_residency_hits", "Lookups that found the segment on the device.")
          .counters(
              "misses.*",
              "vamana_residency_misses",
              "reason",
              "Lookups that did not find the segment on the device.")
          .counter("waits.count", "vamana_upload_waits", "Lookups that waited for an upload.")
          .counter(
              "waits.time_in_millis",
              "vamana_upload_waits_seconds",
              "Time of lookups waiting for an upload.")
          .counter("balance.moves", "vamana_segments_moved", "Segments moved between devices.")
          .counter(
              "balance.moved_in_bytes",
              "vamana_segments_moved_bytes",
              "Device memory of segments moved between devices.")
          .build();

  /** Of {@code devices.counters}. */
  static final CounterTable DEVICES =
      CounterTable.builder()
          .gauge(
              "segments",
              "vamana_device_segments",
              "Segments that belong to one of several devices.")
          .counter("items", "vamana_device_items", "Items sent to one of several devices.")
          .counter(
              "launches.count", "vamana_device_launches", "Launches on one of several devices.")
          .gauge(
              "memory.device.used_in_bytes",
              "vamana_device_segments_bytes",
              "Memory of one of several devices in use for segments.")
          .gauge(
              "memory.scratch.used_in_bytes",
              "vamana_device_scratch_bytes",
              "Device memory of searches and builds, within that of segments.")
          .gauge(
              "memory.device.limit_in_bytes",
              "vamana_device_segments_limit_bytes",
              "Most memory of one of several devices for segments.")
          .build();

  /** Of {@code executor.items}. */
  static final CounterTable ITEMS =
      CounterTable.builder()
          .counter(
              "requested", "vamana_items_requested", "Items of searches: a query in a segment.")
          .counters(
              "by_placement.*",
              "vamana_items_on_gpu",
              "placement",
              "Items that the GPU answered, by the placement of the segment.")
          .counters(
              "on_cpu.*", "vamana_items_on_cpu", "reason", "Items that the CPU answered, and why.")
          .counter("cancelled", "vamana_items_cancelled", "Items whose search was stopped.")
          .counter(
              "repeated_on_cpu",
              "vamana_items_repeated_on_cpu",
              "Items that the GPU answered and the CPU again.")
          .counter("ahead.sent", "vamana_items_ahead_sent", "Items sent before they were asked.")
          .counter("ahead.used", "vamana_items_ahead_used", "Items sent ahead, and used.")
          .counter("ahead.in_vain", "vamana_items_ahead_in_vain", "Items sent ahead, not used.")
          .counters(
              "by_plan.*.items", "vamana_plan_items", "plan", "Items that each plan answered.")
          .counters(
              "by_plan.*.calls",
              "vamana_plan_calls",
              "plan",
              "Calls of the executor with items of the plan.")
          .counters("by_plan.*.batches", "vamana_plan_batches", "plan", "Batches of exact plans.")
          .counters(
              "by_plan.*.predicted_in_micros",
              "vamana_plan_predicted_seconds",
              "plan",
              "Time that the cost model predicted.")
          .counters(
              "by_plan.*.measured_in_micros",
              "vamana_plan_measured_seconds",
              "plan",
              "Measured time, with waiting.")
          .build();

  /** Of {@code executor.launches}; sums of histograms are told there. */
  static final CounterTable LAUNCHES =
      CounterTable.builder()
          .counter("count", "vamana_launches", "Kernels started.")
          .counter("failed", "vamana_launches_failed", "Kernels that could not be started.")
          .gauge("in_flight", "vamana_launches_in_flight", "Kernels that run now.")
          .counter("parts", "vamana_launches_parts", "Parts of launches.")
          .counter(
              "abandoned_parts",
              "vamana_launches_parts_abandoned",
              "Parts whose caller no longer waited.")
          .counter("distances", "vamana_gpu_distances", "Distances that the GPU computed.")
          .counter("steps", "vamana_gpu_steps", "Steps of walks on the GPU.")
          .counter(
              "lists_together",
              "vamana_gpu_lists_together",
              "Launches whose items search inverted lists together.")
          .counter("copied_bitsets", "vamana_gpu_copied_bitsets", "Filters copied to the device.")
          .counter(
              "processors_scarce",
              "vamana_gpu_processors_scarce",
              "Times that threads which wait for the GPU found all processors busy.")
          .build();

  /** Of {@code build}. */
  static final CounterTable BUILD =
      CounterTable.builder()
          .counter("graphs.count", "vamana_build_graphs", "Graphs built and written.")
          .counter("graphs.time_in_millis", "vamana_build_graphs_seconds", "Time of graphs.")
          .counter(
              "graphs.nodes_inserted",
              "vamana_build_nodes_inserted",
              "Vectors inserted into graphs by a search.")
          .counter(
              "graphs.nodes_reused",
              "vamana_build_nodes_reused",
              "Vectors that kept their row of a merged graph.")
          .counter("codes.count", "vamana_build_codes", "Fields of segments that got codes.")
          .counter(
              "codes.time_in_millis", "vamana_build_codes_seconds", "Time of codes, with training.")
          .counter("codes.vectors_encoded", "vamana_build_vectors_encoded", "Codes computed.")
          .counter(
              "codes.vectors_copied",
              "vamana_build_vectors_copied",
              "Codes copied from merged segments.")
          .counter("lists.count", "vamana_build_lists", "Fields of segments that got lists.")
          .counter(
              "lists.time_in_millis", "vamana_build_lists_seconds", "Time of lists, with training.")
          .counter(
              "lists.centroids_kept",
              "vamana_build_centroids_kept",
              "Fields with the centroids of a merged segment.")
          .counter(
              "lists.centroids_shared",
              "vamana_build_centroids_shared",
              "Fields with the centroids of another segment of the shard.")
          .counter("lists.vectors_encoded", "vamana_build_list_codes", "Codes of lists computed.")
          .counter(
              "lists.vectors_copied",
              "vamana_build_list_codes_copied",
              "Codes of lists copied from merged segments.")
          .counter(
              "codebooks.shared", "vamana_build_codebooks_shared", "Fields with a shared codebook.")
          .counter(
              "codebooks.kept",
              "vamana_build_codebooks_kept",
              "Fields with the codebook of a merged segment.")
          .counter(
              "codebooks.trained",
              "vamana_build_codebooks_trained",
              "Fields with a codebook trained for the segment.")
          .counters(
              "codebooks.not_shared.*",
              "vamana_build_codebooks_not_shared",
              "reason",
              "Fields without a shared codebook, and why.")
          .counter(
              "gpu.codebooks_trained",
              "vamana_gpu_codebooks_trained",
              "Codebooks trained on the GPU.")
          .counter(
              "gpu.training_time_in_millis",
              "vamana_gpu_training_seconds",
              "Time of training on the GPU.")
          .counter(
              "gpu.vectors_encoded", "vamana_gpu_vectors_encoded", "Vectors encoded on the GPU.")
          .counter(
              "gpu.encoding_time_in_millis",
              "vamana_gpu_encoding_seconds",
              "Time of encoding on the GPU.")
          .counter(
              "gpu.vectors_assigned",
              "vamana_gpu_vectors_assigned",
              "Vectors whose nearest centroid was found on the GPU.")
          .counter(
              "gpu.assignment_time_in_millis",
              "vamana_gpu_assignment_seconds",
              "Time of finding nearest centroids on the GPU.")
          .counters(
              "gpu.on_cpu.*",
              "vamana_gpu_builds_on_cpu",
              "reason",
              "Trainings and encodings that the CPU did, and why.")
          .counter("gpu.graphs_built", "vamana_gpu_graphs", "Graphs built on the GPU.")
          .counter(
              "gpu.graph_time_in_millis",
              "vamana_gpu_graph_seconds",
              "Time of building graphs on the GPU.")
          .counter(
              "gpu.graphs_in_host_memory",
              "vamana_gpu_graphs_in_host_memory",
              "Builds on the GPU that read rows, or rows and vectors, from host memory.")
          .counters(
              "gpu.graphs_on_cpu.*",
              "vamana_gpu_graphs_on_cpu",
              "reason",
              "Graphs that the CPU built in place of the GPU, and why.")
          .counter("aborted", "vamana_build_aborted", "Graphs and codes whose merge was aborted.")
          .counter("failed", "vamana_build_failed", "Graphs and codes that failed.")
          .build();

  /** Of {@code training}. */
  static final CounterTable TRAINING =
      CounterTable.builder()
          .gauges(
              "codebooks.*.version",
              "vamana_codebook_version",
              "codebook",
              "Newest version of the codebook that is ready on the node.")
          .gauges(
              "samples.*.documents",
              "vamana_sample_documents",
              "codebook",
              "Vectors that could be sampled.")
          .gauges(
              "samples.*.sampled", "vamana_sample_vectors", "codebook", "Vectors in the sample.")
          .gauges(
              "samples.*.rejected",
              "vamana_sample_documents_rejected",
              "codebook",
              "Documents whose value is no vector of the kind of the codebook.")
          .gauges(
              "samples.*.missed",
              "vamana_sample_vectors_missed",
              "codebook",
              "Vectors that the sample could not take when they came.")
          .gauge(
              "sample_memory.used_in_bytes",
              "vamana_samples_used_bytes",
              "Heap that all samples have reserved.")
          .gauge(
              "sample_memory.limit_in_bytes",
              "vamana_samples_limit_bytes",
              "Most heap that all samples may reserve.")
          .build();

  /** Of {@code memory}. */
  static final CounterTable MEMORY =
      CounterTable.builder()
          .gauges("*.used_in_bytes", "vamana_memory_used_bytes", "pool", "Memory in use.")
          .gauges("*.limit_in_bytes", "vamana_memory_limit_bytes", "pool", "Limit of memory.")
          .counter(
              "breaker.tripped",
              "vamana_breaker_tripped",
              "Requests for memory that the circuit breaker refused.")
          .counter(
              "builds.files",
              "vamana_build_files",
              "Temporary files for what builds had no memory for.")
          .build();
}
