package dev.vamana.elasticsearch.index;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.CodebookTraining;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.compress.CompressedXContent;
import org.elasticsearch.common.logging.HeaderWarning;
import org.elasticsearch.common.settings.IndexScopedSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.index.IndexVersion;
import org.junit.BeforeClass;

public class NewIndexCheckTests extends LuceneTestCase {
  private static final SharedCodebook CLIP =
      new SharedCodebook(
          "clip",
          1,
          new Codebook(
              CodebookId.random(), new SubspaceLayout(8, 2), new float[Codebook.CENTROIDS * 8]),
          VectorSimilarityFunction.EUCLIDEAN,
          new CodebookTraining(1, 1, 0, ""));

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  /** Creates an index and returns the warnings of the response. */
  private static List<String> create(Settings settings, String... mappings) throws IOException {
    List<CompressedXContent> parsed = new ArrayList<>();
    for (String mapping : mappings) {
      parsed.add(new CompressedXContent(mapping));
    }
    ThreadContext context = new ThreadContext(Settings.EMPTY);
    HeaderWarning.setThreadContext(context);
    try {
      new NewIndexCheck(name -> name.equals("clip") ? CLIP : null)
          .provideAdditionalSettings(
              "photos",
              null,
              null,
              null,
              Instant.EPOCH,
              settings,
              parsed,
              IndexVersion.current(),
              Settings.builder());
    } finally {
      HeaderWarning.removeThreadContext(context);
    }
    return context.getResponseHeaders().getOrDefault("Warning", List.of());
  }

  private static Settings names(String field, String codebook) {
    return Settings.builder()
        .put("index.vamana.enabled", true)
        .put("index.vamana.codebook." + field, codebook)
        .build();
  }

  private static String mapping(String properties) {
    return "{\"_doc\": {\"properties\": {" + properties + "}}}";
  }

  private static String vector(String field, String options) {
    return "\"" + field + "\": {\"type\": \"dense_vector\"" + options + "}";
  }

  private static void assertRefused(String field, String mapping) {
    IllegalArgumentException e =
        expectThrows(IllegalArgumentException.class, () -> create(names(field, "clip"), mapping));
    assertEquals(
        "Invalid value [clip] for setting [index.vamana.codebook."
            + field
            + "]: that field has dims [9], codebook [clip] version [1] has [8]",
        e.getMessage());
  }

  public void testCodebooksOfOtherDimensionsAreRefused() {
    assertRefused("v", mapping(vector("v", ", \"dims\": 9")));
    assertRefused(
        "o.v", mapping("\"o\": {\"properties\": {" + vector("v", ", \"dims\": 9") + "}}"));
    assertRefused("o.v", mapping(vector("o.v", ", \"dims\": 9")));
  }

  public void testOthersPass() throws IOException {
    for (String mapping :
        List.of(
            mapping(vector("v", ", \"dims\": 8")),
            mapping(vector("w", ", \"dims\": 9")),
            // the first document decides about the dims
            mapping(vector("v", "")),
            mapping("\"v\": {\"type\": \"keyword\"}"),
            "{\"_doc\": {\"dynamic\": \"strict\"}}",
            "{}")) {
      assertEquals(List.of(), create(names("v", "clip"), mapping));
    }
    assertEquals(List.of(), create(names("v", "absent"), mapping(vector("v", ", \"dims\": 9"))));
    assertEquals(List.of(), create(names("v", "clip")));
    assertEquals(List.of(), create(Settings.EMPTY, mapping(vector("v", ", \"dims\": 768"))));
  }

  public void testFieldsThatElasticsearchRescoresAreWarnedOf() throws IOException {
    Settings enabled = Settings.builder().put("index.vamana.enabled", true).build();
    for (String options :
        List.of(
            ", \"dims\": 384",
            ", \"dims\": 768, \"element_type\": \"bfloat16\"",
            ", \"dims\": 64, \"index_options\": {\"type\": \"bbq_hnsw\"}")) {
      List<String> warnings = create(enabled, mapping(vector("v", options)));
      assertEquals(options, 1, warnings.size());
      assertTrue(warnings.get(0), warnings.get(0).contains("field [v] is of type [bbq_hnsw]"));
    }
    for (String options :
        List.of(
            ", \"dims\": 383",
            ", \"dims\": 768, \"element_type\": \"byte\"",
            ", \"dims\": 768, \"index\": false",
            ", \"dims\": 768, \"index_options\": {\"type\": \"hnsw\"}",
            ", \"dims\": 768, \"index_options\": {\"type\": \"bbq_hnsw\", \"rescore_vector\":"
                + " {\"oversample\": 0}}")) {
      assertEquals(options, List.of(), create(enabled, mapping(vector("v", options))));
    }
  }

  public void testSettingIsRegisteredForAnyField() {
    IndexScopedSettings scoped =
        new IndexScopedSettings(
            Settings.EMPTY, Set.of(VamanaSettings.ENABLED, CodebookSetting.ALL));
    for (String field : List.of("v", "a.b.c", "with space", "\u00fcber", "@v")) {
      scoped.validate(names(field, "clip"), true);
      assertEquals(Map.of(field, "clip"), CodebookSetting.of(names(field, "clip")));
    }
    for (String name : List.of("Upper", "a,b", "", "_a", "x".repeat(256))) {
      Settings settings = Settings.builder().put("index.vamana.codebook.v", name).build();
      IllegalArgumentException e =
          expectThrows(IllegalArgumentException.class, () -> scoped.validate(settings, true));
      assertTrue(
          e.getMessage(),
          e.getMessage().contains("[" + name + "] for setting [index.vamana.codebook.v]"));
    }
    Settings taken = Settings.builder().putNull("index.vamana.codebook.v").build();
    scoped.validate(taken, true);
    assertEquals(Map.of(), CodebookSetting.of(taken));
    Settings none = Settings.builder().put("index.vamana.codebook.", "clip").build();
    expectThrows(IllegalArgumentException.class, () -> scoped.validate(none, true));
  }
}
