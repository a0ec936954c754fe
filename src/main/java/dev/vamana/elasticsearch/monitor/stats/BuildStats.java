package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.codec.BuildStatistics;

/** Converts the statistics of builds to counters of the metric {@code build}. */
final class BuildStats {

  private static final long NANOS_PER_MILLI = 1_000_000;

  private BuildStats() {}

  /**
   * Makes the counters.
   *
   * @param gpu trainings and encodings on the GPU; empty on a node without one
   */
  static Counters of(BuildStatistics.Snapshot built, Counters gpu) {
    return Counters.builder()
        .put(
            "graphs",
            Counters.builder()
                .put("count", built.graphs())
                .put("time_in_millis", built.graphNanos() / NANOS_PER_MILLI)
                .put("nodes_inserted", built.nodesInserted())
                .put("nodes_reused", built.nodesReused())
                .build())
        .put(
            "codes",
            Counters.builder()
                .put("count", built.quantizations())
                .put("time_in_millis", built.quantizationNanos() / NANOS_PER_MILLI)
                .put("vectors_encoded", built.codesEncoded())
                .put("vectors_copied", built.codesCopied())
                .build())
        .put(
            "lists",
            Counters.builder()
                .put("count", built.lists())
                .put("time_in_millis", built.listNanos() / NANOS_PER_MILLI)
                .put("centroids_kept", built.centroidsKept())
                .put("centroids_shared", built.centroidsShared())
                .put("vectors_encoded", built.listCodesEncoded())
                .put("vectors_copied", built.listCodesCopied())
                .build())
        .put(
            "codebooks",
            Counters.builder()
                .put("shared", built.codebooksShared())
                .put("kept", built.codebooksKept())
                .put("trained", built.codebooksTrained())
                .put(
                    "not_shared",
                    Counters.builder()
                        .put("none_named", built.ownNoneNamed())
                        .put("not_ready", built.ownNotReady())
                        .put("does_not_fit", built.ownDoesNotFit())
                        .build())
                .build())
        .putIfAny("gpu", gpu)
        .put("aborted", built.aborted())
        .put("failed", built.failed())
        .build();
  }
}
