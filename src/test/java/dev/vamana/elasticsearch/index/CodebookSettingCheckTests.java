package dev.vamana.elasticsearch.index;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.CodebookTraining;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.TransportVersion;
import org.elasticsearch.common.compress.CompressedXContent;
import org.elasticsearch.common.settings.IndexScopedSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.index.analysis.AnalyzerScope;
import org.elasticsearch.index.analysis.IndexAnalyzers;
import org.elasticsearch.index.analysis.NamedAnalyzer;
import org.elasticsearch.index.mapper.MapperMetrics;
import org.elasticsearch.index.mapper.MapperService;
import org.elasticsearch.index.similarity.SimilarityService;
import org.elasticsearch.indices.IndicesModule;
import org.elasticsearch.script.ScriptCompiler;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.junit.BeforeClass;

public class CodebookSettingCheckTests extends LuceneTestCase {
  private static SharedCodebook codebook(int dims, VectorSimilarityFunction similarity) {
    return new SharedCodebook(
        "clip",
        1,
        new Codebook(
            CodebookId.random(), new SubspaceLayout(dims, 2), new float[Codebook.CENTROIDS * dims]),
        similarity,
        new CodebookTraining(1, 1, 0, ""));
  }

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  /** A mapper service without anything that parsing a mapping does not take. */
  private static MapperService mapperService(IndexSettings settings) {
    Map<String, NamedAnalyzer> analyzers = new HashMap<>();
    analyzers.put("default", analyzer("default"));
    settings
        .getSettings()
        .getGroups("index.analysis.analyzer")
        .keySet()
        .forEach(name -> analyzers.put(name, analyzer(name)));
    return new MapperService(
        TransportVersion::current,
        settings,
        IndexAnalyzers.of(analyzers),
        XContentParserConfiguration.EMPTY,
        new SimilarityService(settings, null, Map.of()),
        new IndicesModule(List.of()).getMapperRegistry(),
        () -> null,
        () -> false,
        ScriptCompiler.NONE,
        query -> null,
        MapperMetrics.NOOP,
        null,
        () -> null);
  }

  private static NamedAnalyzer analyzer(String name) {
    return new NamedAnalyzer(name, AnalyzerScope.INDEX, new StandardAnalyzer());
  }

  private static void create(SharedCodebook ready, Settings settings, String... mappings)
      throws IOException {
    CodebookSettingCheck check =
        new CodebookSettingCheck(
            new IndexMappings(
                metadata -> mapperService(new IndexSettings(metadata, Settings.EMPTY))),
            name -> name.equals("clip") ? ready : null);
    List<CompressedXContent> parsed = new ArrayList<>();
    for (String mapping : mappings) {
      parsed.add(new CompressedXContent(mapping));
    }
    check.check("photos", settings, IndexVersion.current(), parsed);
  }

  private static Settings names(String field) {
    return Settings.builder()
        .put("index.vamana.enabled", true)
        .put("index.vamana.codebook." + field, "clip")
        .build();
  }

  private static String mapping(String properties) {
    return "{\"_doc\": {\"properties\": {" + properties + "}}}";
  }

  private static String vector(String field, String options) {
    return "\"" + field + "\": {\"type\": \"dense_vector\"" + options + "}";
  }

  private static void assertRefused(
      SharedCodebook ready, String field, String mapping, String reason) {
    IllegalArgumentException e =
        expectThrows(IllegalArgumentException.class, () -> create(ready, names(field), mapping));
    assertEquals(
        "Invalid value [clip] for setting [index.vamana.codebook." + field + "]: " + reason,
        e.getMessage());
  }

  public void testFieldsThatFit() throws IOException {
    SharedCodebook euclidean = codebook(8, VectorSimilarityFunction.EUCLIDEAN);
    SharedCodebook unit = codebook(8, VectorSimilarityFunction.COSINE);
    for (SharedCodebook ready : new SharedCodebook[] {null, euclidean}) {
      create(ready, names("v"), mapping(vector("v", ", \"dims\": 8, \"similarity\": \"l2_norm\"")));
      // The first document decides about the dims.
      create(ready, names("v"), mapping(vector("v", ", \"similarity\": \"l2_norm\"")));
      create(
          ready,
          names("o.v"),
          mapping(
              "\"o\": {\"properties\": {"
                  + vector(
                      "v",
                      ", \"dims\": 8, \"similarity\": \"l2_norm\", \"index_options\": {\"type\":"
                          + " \"int8_hnsw\"}")
                  + "}}"));
    }
    for (String similarity : List.of("cosine", "dot_product")) {
      create(
          unit,
          names("v"),
          mapping(vector("v", ", \"dims\": 8, \"similarity\": \"" + similarity + "\"")));
    }
    create(
        euclidean,
        names("v"),
        mapping(
            vector(
                "v",
                ", \"dims\": 8, \"similarity\": \"l2_norm\", \"element_type\": \"bfloat16\"")));
  }

  public void testFieldsThatAreNotMappedYet() throws IOException {
    create(null, names("v"));
    create(null, names("v"), mapping("\"text\": {\"type\": \"text\"}"));
    create(null, names("v"), "{\"_doc\": {\"dynamic\": \"runtime\"}}");
    for (String dynamic : List.of("strict", "false")) {
      assertRefused(
          null,
          "v",
          "{\"_doc\": {\"dynamic\": \"" + dynamic + "\"}}",
          "that field is not mapped, and [dynamic] keeps documents from adding it");
    }
  }

  public void testFieldsThatCannotUseACodebook() {
    assertRefused(
        null,
        "t",
        mapping("\"t\": {\"type\": \"keyword\"}"),
        "that field is of type [keyword], expected [dense_vector]");
    assertRefused(
        null,
        "o",
        mapping("\"o\": {\"properties\": {" + vector("v", ", \"dims\": 8") + "}}"),
        "that field is of type [object], expected [dense_vector]");
    assertRefused(
        null,
        "a",
        mapping(vector("v", ", \"dims\": 8") + ", \"a\": {\"type\": \"alias\", \"path\": \"v\"}"),
        "that field is an alias of [v]");
    assertRefused(
        null,
        "v",
        mapping(vector("v", ", \"dims\": 8, \"element_type\": \"byte\"")),
        "that field has element_type [byte], expected [float] or [bfloat16]");
    assertRefused(
        null,
        "v",
        mapping(vector("v", ", \"dims\": 64, \"element_type\": \"bit\"")),
        "that field has element_type [bit], expected [float] or [bfloat16]");
    assertRefused(
        null,
        "v",
        mapping(vector("v", ", \"dims\": 8, \"index\": false")),
        "that field is not indexed");
    assertRefused(
        null,
        "v",
        mapping(vector("v", ", \"dims\": 8, \"index_options\": {\"type\": \"flat\"}")),
        "that field keeps the stock vector format: index_options type [flat] has no graph");
  }

  public void testCodebooksThatDoNotFit() {
    SharedCodebook ready = codebook(8, VectorSimilarityFunction.EUCLIDEAN);
    assertRefused(
        ready,
        "v",
        mapping(vector("v", ", \"dims\": 9, \"similarity\": \"l2_norm\"")),
        "that field has dims [9], codebook [clip] version [1] has [8]");
    assertRefused(
        ready,
        "v",
        mapping(vector("v", ", \"dims\": 8, \"similarity\": \"max_inner_product\"")),
        "that field has similarity [max_inner_product], codebook [clip] version [1] is for [l2_norm]");
    // Cosine is the default.
    assertRefused(
        ready,
        "v",
        mapping(vector("v", ", \"dims\": 8")),
        "that field has similarity [cosine], codebook [clip] version [1] is for [l2_norm]");
  }

  public void testCodebooksOfUnitVectors() {
    assertRefused(
        codebook(8, VectorSimilarityFunction.DOT_PRODUCT),
        "v",
        mapping(vector("v", ", \"dims\": 8, \"similarity\": \"l2_norm\"")),
        "that field has similarity [l2_norm], codebook [clip] version [1] is for [cosine] or"
            + " [dot_product]");
  }

  /** What the mapping takes from the settings is there when it is parsed. */
  public void testMappingsWithAnalyzersLimitsAndModes() throws IOException {
    StringBuilder fields = new StringBuilder(vector("v", ", \"dims\": 8"));
    for (int i = 0; i < 1100; i++) {
      fields.append(", \"f").append(i).append("\": {\"type\": \"keyword\"}");
    }
    fields.append(", \"t\": {\"type\": \"text\", \"analyzer\": \"mine\"}");
    Settings settings =
        Settings.builder()
            .put(names("v"))
            .put("index.mapping.total_fields.limit", 2000)
            .put("index.analysis.analyzer.mine.type", "custom")
            .put("index.analysis.analyzer.mine.tokenizer", "standard")
            .put("index.mode", "time_series")
            .put("index.routing_path", "f0")
            .put("index.number_of_shards", 3)
            .build();
    create(null, settings, mapping(fields.toString()));
  }

  public void testSeveralMappingsAreMerged() throws IOException {
    create(
        codebook(8, VectorSimilarityFunction.EUCLIDEAN),
        names("v"),
        mapping("\"t\": {\"type\": \"text\"}"),
        mapping(vector("v", ", \"dims\": 8, \"similarity\": \"l2_norm\"")));
  }

  public void testSettingIsRegisteredForAnyField() {
    IndexScopedSettings scoped =
        new IndexScopedSettings(
            Settings.EMPTY, Set.of(VamanaSettings.ENABLED, CodebookSetting.ALL));
    for (String field : List.of("v", "a.b.c", "with space", "\u00fcber", "@v")) {
      scoped.validate(names(field), true);
      assertEquals(Map.of(field, "clip"), CodebookSetting.of(names(field)));
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
