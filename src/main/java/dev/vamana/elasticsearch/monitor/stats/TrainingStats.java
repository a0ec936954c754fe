package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.elasticsearch.codebook.store.NodeCodebooks;
import dev.vamana.pq.SharedCodebook;

/** Converts the codebooks and samples of a node to counters of the metric {@code training}. */
public final class TrainingStats {

  private TrainingStats() {}

  /** Makes the counters. */
  public static Counters of(NodeCodebooks codebooks, Samples samples) {
    Counters.Builder ready = Counters.builder();
    for (String name : codebooks.names()) {
      SharedCodebook codebook = codebooks.get(name);
      if (codebook != null) {
        ready.put(name, Counters.builder().put("version", codebook.version()).build());
      }
    }
    Counters.Builder sampled = Counters.builder();
    for (SampleStatus status : samples.status()) {
      sampled.put(status.name(), of(status));
    }
    return Counters.builder()
        .put("codebooks", ready.build())
        .put("samples", sampled.build())
        .put(
            "sample_memory",
            Counters.builder()
                .put("used_in_bytes", samples.memory().used())
                .put("limit_in_bytes", samples.memory().limit())
                .build())
        .build();
  }

  private static Counters of(SampleStatus status) {
    return Counters.builder()
        .put("documents", status.seen())
        .put("sampled", status.held())
        .put("capacity", status.capacity())
        .put("without_field", status.missing())
        .put("rejected", status.rejected())
        .put("other_options", status.conflicts())
        .put("missed", status.missed())
        .put("memory_in_bytes", status.bytes())
        .build();
  }
}
