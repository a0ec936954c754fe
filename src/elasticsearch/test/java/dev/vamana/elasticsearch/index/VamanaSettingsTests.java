package dev.vamana.elasticsearch.index;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.VamanaPlugin;
import dev.vamana.elasticsearch.codebook.Codebooks;
import dev.vamana.elasticsearch.gpu.GpuSettings;
import dev.vamana.elasticsearch.gpu.PinnedMemoryBreaker;
import dev.vamana.elasticsearch.gpu.WarmSettings;
import dev.vamana.elasticsearch.monitor.recall.RecallSettings;
import dev.vamana.elasticsearch.search.IdCache;
import dev.vamana.elasticsearch.search.WalkSettings;
import dev.vamana.ivf.CodeKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;
import org.junit.BeforeClass;

public class VamanaSettingsTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  public void testEveryParameterIsRead() {
    Settings settings =
        Settings.builder()
            .put("index.vamana.max_degree", 16)
            .put("index.vamana.beam_width", 40)
            .put("index.vamana.alpha", 1.5)
            .put("index.vamana.pq.subspaces", 8)
            .put("index.vamana.pq.threshold", 7)
            .put("index.vamana.graph_threshold", 0)
            .build();
    VamanaParameters expected = new VamanaParameters(16, 40, 1.5f, 8, 0, 7);
    assertEquals(expected, VamanaSettings.parameters(settings));
    Settings labelled =
        Settings.builder().put(settings).put("index.vamana.filter_field", "a.tenant").build();
    assertEquals(expected.withFilterField("a.tenant"), VamanaSettings.parameters(labelled));
  }

  public void testListsAreRead() {
    Settings settings =
        Settings.builder()
            .put("index.vamana.type", "ivf")
            .put("index.vamana.codes", "rabitq4")
            .put("index.vamana.graph_threshold", 7)
            .build();
    VamanaParameters parameters = VamanaSettings.parameters(settings);
    assertEquals(IndexType.IVF, parameters.type());
    assertEquals(CodeKind.RABITQ4, parameters.codes());
    assertEquals(7, parameters.graphThreshold(100));
    Settings quantized =
        Settings.builder().put("index.vamana.type", "ivf").put("index.vamana.codes", "pq").build();
    assertEquals(CodeKind.PQ, VamanaSettings.parameters(quantized).codes());
    assertEquals(
        CodeKind.DEFAULT,
        VamanaSettings.parameters(Settings.builder().put("index.vamana.type", "ivf").build())
            .codes());
  }

  public void testSettingsWithoutEffectAreNamed() {
    Settings.Builder settings =
        Settings.builder().put("index.vamana.max_degree", 32).put("index.vamana.warm", true);
    assertEquals(
        List.of(
            "setting [index.vamana.max_degree] is [32], but has no effect without"
                + " [index.vamana.enabled]"),
        SettingsWithoutEffect.of(settings.build()));
    settings.put("index.vamana.enabled", false);
    assertEquals(List.of(), SettingsWithoutEffect.of(settings.build()));
    settings.put("index.vamana.codes", "rabitq1");
    assertEquals(
        List.of(
            "setting [index.vamana.codes] is [rabitq1], but has no effect unless"
                + " [index.vamana.type] is [ivf]"),
        SettingsWithoutEffect.of(settings.build()));
    settings.put("index.vamana.type", "ivf").put("index.vamana.codebook.embedding", "clip");
    assertEquals(
        List.of(
            "setting [index.vamana.codebook.embedding] is [clip], but has no effect with"
                + " [index.vamana.type] [ivf]",
            "setting [index.vamana.max_degree] is [32], but has no effect with"
                + " [index.vamana.type] [ivf]"),
        SettingsWithoutEffect.of(settings.build()));
  }

  public void testPagesNameEverySettingWithItsDefault() throws IOException {
    for (String page : List.of("docs/operators/index-settings.md")) {
      List<String> lines = Files.readAllLines(Path.of(page));
      for (Setting<?> setting : VamanaPlugin.SETTINGS) {
        if (GpuSettings.ALL.contains(setting)
            || Codebooks.SETTINGS.contains(setting)
            || PinnedMemoryBreaker.SETTINGS.contains(setting)
            || setting == RecallSettings.MAX_LOAD
            || setting == IdCache.SIZE) {
          continue;
        }
        boolean group = setting == CodebookSetting.ALL;
        String key = setting.getKey() + (group ? "<field>" : "");
        List<String> rows =
            lines.stream().filter(line -> line.startsWith("| `" + key + "` |")).toList();
        assertEquals(page + " rows of " + key, 1, rows.size());
        if (setting != VamanaSettings.BUILD_THREADS && group == false) {
          String documented = rows.get(0).split("\\|")[2].replaceAll("[`, ]", "");
          assertEquals(
              page + " " + setting.getKey(), setting.getDefaultRaw(Settings.EMPTY), documented);
        }
      }
    }
  }

  public void testValuesOutOfRangeAreNamed() {
    assertRejected("index.vamana.max_degree", "0");
    assertRejected("index.vamana.max_degree", "100000");
    assertRejected("index.vamana.beam_width", "0");
    assertRejected("index.vamana.alpha", "0.9");
    assertRejected("index.vamana.alpha", "99");
    assertRejected("index.vamana.alpha", "NaN");
    assertRejected("index.vamana.alpha", "steep");
    assertRejected("index.vamana.pq.subspaces", "-1");
    assertRejected("index.vamana.pq.subspaces", "257");
    assertRejected("index.vamana.pq.threshold", "-1");
    assertRejected("index.vamana.graph_threshold", "-2");
    assertRejected("index.vamana.type", "lists");
    assertRejected("index.vamana.codes", "rabitq3");
    assertRejected("index.vamana.codes", "pq8");
    assertRejected("vamana.build.threads", "0");
    assertRejected("vamana.build.memory.limit", "-5b");
    assertRejected("index.vamana.warm", "yes");
    assertRejected("index.vamana.warm_timeout", "11m");
    assertRejected("index.vamana.search.beam_width", "10001");
    assertRejected("index.vamana.search.parents", "65");
    assertRejected("index.vamana.search.rerank_depth", "-1");
    for (String share : List.of("-0.1", "1.5", "NaN", "often")) {
      assertRejected("index.vamana.recall.sample_rate", share);
      assertRejected("vamana.recall.max_load", share);
    }
    assertRejected("vamana.recall.max_load", "0");
  }

  public void testBeamWidthIsAtLeastMaxDegree() {
    Settings.Builder settings =
        Settings.builder().put("index.vamana.max_degree", 40).put("index.vamana.beam_width", 39);
    IllegalArgumentException e =
        expectThrows(
            IllegalArgumentException.class, () -> VamanaSettings.parameters(settings.build()));
    assertTrue(
        e.getMessage(), e.getMessage().contains("[39] for setting [index.vamana.beam_width]"));
    assertTrue(e.getMessage(), e.getMessage().contains("[index.vamana.max_degree] which is [40]"));
    settings.put("index.vamana.beam_width", 40);
    assertEquals(40, VamanaSettings.parameters(settings.build()).beamWidth());
  }

  private static void assertRejected(String key, String value) {
    Setting<?> setting =
        VamanaPlugin.SETTINGS.stream()
            .filter(s -> s.getKey().equals(key))
            .findFirst()
            .orElseThrow();
    IllegalArgumentException e =
        expectThrows(
            IllegalArgumentException.class,
            () -> setting.get(Settings.builder().put(key, value).build()));
    assertTrue(e.getMessage(), e.getMessage().contains("[" + key + "]"));
    assertTrue(e.getMessage(), e.getMessage().contains("[" + value + "]"));
  }

  public void testIndexSettingsOfTheFormatCanChangeOnAClosedIndexOnly() {
    for (Setting<?> setting : VamanaPlugin.SETTINGS) {
      if (setting.hasIndexScope()) {
        boolean ofTheFormat =
            WarmSettings.ALL.contains(setting) == false
                && WalkSettings.ALL.contains(setting) == false
                && setting != RecallSettings.SAMPLE_RATE;
        assertEquals(setting.getKey(), ofTheFormat == false, setting.isDynamic());
        assertFalse(setting.getKey(), setting.isFinal());
        assertFalse(setting.getKey(), setting.getProperties().contains(Property.PrivateIndex));
      }
    }
  }
}
