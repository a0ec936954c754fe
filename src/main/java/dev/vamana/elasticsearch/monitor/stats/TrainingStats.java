package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.pq.SharedCodebook;
import java.util.Map;

/** Converts the codebooks and samples of a node to counters of the metric {@code training}. */
public final class TrainingStats {

  private TrainingStats() {}

  /** Makes the counters. */
  public static Counters of(Map<String, SharedCodebook> codebooks, Samples samples) {
    Counters.Builder ready = Counters.builder();
    codebooks.forEach(
        (name, codebook) ->
            ready.put(name, Counters.builder().put("version", codebook.version()).build()));
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
        .put("rejected", status.rejected())
        .put("missed", status.missed())
        .build();
  }
}
