package dev.vamana.elasticsearch.codebook.sample;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.cluster.ClusterName;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.metadata.Metadata;
import org.elasticsearch.cluster.metadata.ProjectId;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.index.VersionType;
import org.elasticsearch.ingest.IngestDocument;
import org.elasticsearch.ingest.IngestMetadata;
import org.elasticsearch.ingest.PipelineConfiguration;
import org.elasticsearch.ingest.Processor;
import org.junit.BeforeClass;
import org.junit.Test;

public class TrainProcessorTests {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private final Set<String> ready = new HashSet<>();
  private final Samples samples = new Samples(new SampleMemory(1 << 20), ready::contains);

  private static Map<String, Object> config(Object... options) {
    Map<String, Object> config =
        new HashMap<>(Map.of("field", "a.v", "codebook", "c", "dims", 2, "sample_size", 300));
    for (int i = 0; i < options.length; i += 2) {
      if (options[i + 1] == null) {
        config.remove((String) options[i]);
      } else {
        config.put((String) options[i], options[i + 1]);
      }
    }
    return config;
  }

  /** A processor of the only pipeline. */
  private Processor processor(Object... options) throws Exception {
    samples.feed(Map.of("c", TrainProcessor.Options.read("tag", config(options)).sample()));
    return TrainProcessor.factory(samples)
        .create(Map.of(), "tag", "what for", config(options), ProjectId.DEFAULT);
  }

  private static IngestDocument document(Object a) {
    Map<String, Object> source = new HashMap<>();
    source.put("a", a);
    return new IngestDocument("i", "1", 1, null, VersionType.INTERNAL, source);
  }

  private SampleStatus status() {
    assertEquals(1, samples.status().size());
    return samples.status().get(0);
  }

  /** The limit has room for 10 vectors. */
  @Test
  public void testVectorsWithoutMemoryAreCounted() throws Exception {
    Samples small = new Samples(new SampleMemory(10 * SampleMemory.rowBytes(2)), name -> false);
    small.feed(Map.of("c", TrainProcessor.Options.read("tag", config()).sample()));
    Processor processor =
        TrainProcessor.factory(small).create(Map.of(), "", "", config(), ProjectId.DEFAULT);
    for (int i = 0; i < 15; i++) {
      processor.execute(document(Map.of("v", List.of(3, 4))));
    }
    assertEquals(10, small.status().get(0).held());
    assertEquals(5, small.status().get(0).missed());
  }

  /** Mostly equal vectors of sorted documents: documents of the end are there in proportion. */
  @Test
  public void testASortedStream() throws Exception {
    Processor processor = processor("similarity", "l2_norm");
    int count = 3_000;
    for (int i = 0; i < count; i++) {
      processor.execute(document(Map.of("v", List.of(i, 0))));
    }
    int late = 0;
    for (float[] row : samples.wanted("c").rows()) {
      late += row[0] >= count - count / 10 ? 1 : 0;
    }
    // 30 are expected, with a standard deviation of 5.2.
    assertTrue("late " + late, late > 5 && late < 60);
  }

  @Test
  public void testOptionsInPipelines() {
    SampleOptions two = TrainProcessor.Options.read("", config()).sample();
    SampleOptions three = TrainProcessor.Options.read("", config("dims", 3)).sample();
    Map<String, Object> nested =
        Map.of(
            "processors",
            List.of(Map.of("set", Map.of("field", "x"))),
            "on_failure",
            List.of(
                Map.of(
                    "foreach",
                    Map.of(
                        "processor", Map.of("vamana_train", config("codebook", "d", "dims", 3))))));
    assertEquals(
        Map.of("c", two, "d", three),
        Samples.fed(
            state(
                Map.of(
                    "q", pipeline(config("dims", 3)),
                    "p", pipeline(config()),
                    "r", nested,
                    "s", pipeline(config("codebook", "e", "dims", 0))))));
    assertEquals(Map.of(), Samples.fed(state(Map.of())));
  }

  private static Map<String, Object> pipeline(Map<String, Object> config) {
    return Map.of("processors", List.of(Map.of("vamana_train", config)));
  }

  private static ClusterState state(Map<String, Map<String, Object>> pipelines) {
    Map<String, PipelineConfiguration> stored = new HashMap<>();
    pipelines.forEach((id, config) -> stored.put(id, new PipelineConfiguration(id, config)));
    ProjectMetadata project =
        ProjectMetadata.builder(ProjectId.DEFAULT)
            .putCustom(IngestMetadata.TYPE, new IngestMetadata(stored))
            .build();
    return ClusterState.builder(ClusterName.DEFAULT)
        .metadata(Metadata.builder().put(project).build())
        .build();
  }
}
