package dev.vamana.elasticsearch.codebook.ingest;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.codebook.sample.SampleMemory;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace.Similarity;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.CodebookTraining;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.elasticsearch.ElasticsearchException;
import org.elasticsearch.cluster.ClusterName;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.metadata.Metadata;
import org.elasticsearch.cluster.metadata.ProjectId;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.index.VersionType;
import org.elasticsearch.ingest.IngestDocument;
import org.elasticsearch.ingest.IngestMetadata;
import org.elasticsearch.ingest.PipelineConfiguration;
import org.junit.BeforeClass;
import org.junit.Test;

public class TrainProcessorTests {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private final Set<String> ready = new HashSet<>();
  private final Samples samples = new Samples(new SampleMemory(1 << 20), () -> 1, ready::contains);
  private final ThreadContext context = new ThreadContext(Settings.EMPTY);

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

  private TrainProcessor processor(Object... options) {
    return new TrainProcessor.Factory(samples, context)
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

  @Test
  public void testDefaults() {
    TrainProcessor processor = processor("sample_size", null);
    SampleOptions options = processor.options().sample();
    assertEquals(Similarity.COSINE, options.space().similarity());
    assertEquals(65_536, options.sampleSize());
    assertEquals(262_144, options.minDocuments());
    assertEquals(0, options.subspaces());
    assertEquals("vamana_train", processor.getType());
    assertEquals("tag", processor.getTag());
    assertEquals("what for", processor.getDescription());
    assertEquals(1_200, processor().options().sample().minDocuments());
  }

  @Test
  public void testUnknownOptionsAreLeftForTheServerToRefuse() {
    Map<String, Object> config = config("size", 3);
    TrainOptions.read("tag", config);
    assertEquals(Set.of("size"), config.keySet());
  }

  @Test
  public void testWrongOptionsAreNamed() {
    for (Object[] wrong :
        new Object[][] {
          {"field", null},
          {"codebook", null},
          {"dims", null},
          {"dims", 0},
          {"dims", "x"},
          {"similarity", "none"},
          {"subspaces", 3},
          {"sample_size", 1},
          {"min_documents", -1},
          {"codebook", "A"},
        }) {
      ElasticsearchException e = assertThrows(ElasticsearchException.class, () -> processor(wrong));
      assertEquals(List.of(wrong[0]), e.getMetadata("es.property_name"));
      String name = "[" + wrong[0] + "] ";
      assertTrue(e.getMessage(), e.getMessage().startsWith(name));
      // and not a second time, as in "[dims] dims must be"
      assertFalse(e.getMessage(), e.getMessage().startsWith(name + wrong[0] + " "));
    }
  }

  @Test
  public void testDocumentsPassUntouched() {
    TrainProcessor processor = processor();
    List<Object> values = new ArrayList<>();
    values.add(Map.of("v", List.of(3, 4)));
    values.add(Map.of("v", List.of(3, 4, 5)));
    values.add(Map.of("v", List.of(Double.NaN, 1)));
    values.add(Map.of("v", List.of("3", "4")));
    values.add(Map.of());
    values.add("no object");
    values.add(null);
    for (Object value : values) {
      IngestDocument document = document(value);
      IngestDocument before = new IngestDocument(document);
      assertSame(document, processor.execute(document));
      assertEquals(before.getSource(), document.getSource());
    }
    assertEquals(1, status().seen());
    assertEquals(3, status().rejected());
    assertEquals(3, status().missing());
    float[] row = samples.collect("c", status().options(), 1, 0, 1).get(0);
    assertEquals(0.6f, row[0], 1e-6f);
    assertEquals(0.8f, row[1], 1e-6f);
  }

  @Test
  public void testNothingIsSampledOnceReady() {
    TrainProcessor processor = processor();
    ready.add("c");
    processor.execute(document(Map.of("v", List.of(3, 4))));
    assertEquals(List.of(), samples.status());
  }

  /** Mostly equal vectors of sorted documents: documents of the end are there in proportion. */
  @Test
  public void testASortedStream() {
    TrainProcessor processor = processor("similarity", "l2_norm");
    int count = 3_000;
    for (int i = 0; i < count; i++) {
      processor.execute(document(Map.of("v", List.of(i, 0))));
    }
    int late = 0;
    for (float[] row : samples.collect("c", status().options(), 1, 0, 300)) {
      late += row[0] >= count - count / 10 ? 1 : 0;
    }
    // 30 are expected, with a standard deviation of 5.2.
    assertTrue("late " + late, late > 5 && late < 60);
  }

  @Test
  public void testPipelinesThatContradict() {
    ClusterState state = state(Map.of("p", pipeline(config("dims", 2)), "q", Map.of()));
    assertNull(conflict(state, "r", pipeline(config("dims", 2, "field", "b"))));
    assertNull("itself", conflict(state, "p", pipeline(config("dims", 3))));
    assertNull(conflict(state, "r", pipeline(config("dims", 3, "codebook", "d"))));
    String conflict = conflict(state, "r", pipeline(config("dims", 3)));
    assertTrue(conflict, conflict.contains("[c]"));
    assertTrue(conflict, conflict.contains("pipeline [p] has dims=2"));
    assertTrue(conflict, conflict.contains("pipeline [r] has dims=3"));
    Map<String, Object> nested =
        Map.of(
            "processors",
            List.of(
                Map.of(
                    "foreach",
                    Map.of("field", "x", "processor", Map.of("vamana_train", config("dims", 3))))));
    assertNotNull(conflict(state, "r", nested));
    Map<String, Object> twice =
        Map.of(
            "processors", List.of(Map.of("vamana_train", config("codebook", "e"))),
            "on_failure", List.of(Map.of("vamana_train", config("codebook", "e", "subspaces", 1))));
    assertNotNull(conflict(state, "r", twice));
    assertEquals(Set.of("c"), Pipelines.fed(state).keySet());
    assertEquals(Set.of(processor().options().sample()), Pipelines.fed(state).get("c"));
  }

  private static String conflict(ClusterState state, String id, Map<String, Object> pipeline) {
    return Pipelines.conflict(state, id, pipeline, name -> null);
  }

  @Test
  public void testPipelinesThatTheCodebookDoesNotFit() {
    SharedCodebook ready =
        new SharedCodebook(
            "c",
            1,
            new Codebook(
                CodebookId.random(), new SubspaceLayout(3, 1), new float[Codebook.CENTROIDS * 3]),
            VectorSimilarityFunction.COSINE,
            new CodebookTraining(1, 1, 0, ""));
    Function<String, SharedCodebook> known = name -> name.equals("c") ? ready : null;
    ClusterState none = state(Map.of());
    assertNull(Pipelines.conflict(none, "p", pipeline(config("dims", 3)), known));
    assertNull(Pipelines.conflict(none, "p", pipeline(config("dims", 2, "codebook", "d")), known));
    String conflict = Pipelines.conflict(none, "p", pipeline(config("dims", 2)), known);
    for (String named :
        List.of("pipeline [p]", "dims [2]", "codebook [c]", "dims [3]", "[cosine]", "delete")) {
      assertTrue(conflict, conflict.contains(named));
    }
    assertNotNull(
        Pipelines.conflict(none, "p", pipeline(config("dims", 3, "similarity", "l2_norm")), known));
    // what is stored already may be stored again
    ClusterState stored = state(Map.of("p", pipeline(config("dims", 2))));
    assertNull(Pipelines.conflict(stored, "p", pipeline(config("dims", 2)), known));
    assertNotNull(Pipelines.conflict(stored, "p", pipeline(config("dims", 4)), known));
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
