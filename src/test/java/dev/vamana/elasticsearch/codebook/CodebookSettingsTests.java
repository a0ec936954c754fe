package dev.vamana.elasticsearch.codebook;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.codebook.store.CodebookIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.indices.SystemIndexDescriptor;
import org.junit.BeforeClass;
import org.junit.Test;

public class CodebookSettingsTests {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  @Test
  public void testThePageNamesEverySettingWithItsDefault() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("docs/operators/codebooks.md"));
    for (Setting<?> setting : Codebooks.SETTINGS) {
      List<String> rows =
          lines.stream().filter(line -> line.startsWith("| `" + setting.getKey() + "` |")).toList();
      assertEquals("rows of " + setting.getKey(), 1, rows.size());
      String documented = rows.get(0).split("\\|")[2].replaceAll("[` ]", "");
      String expected =
          setting == Codebooks.SAMPLE_MEMORY ? "10%" : setting.getDefaultRaw(Settings.EMPTY);
      assertEquals(setting.getKey(), expected, documented);
    }
  }

  @Test
  public void testValuesOutOfRangeAreNamed() {
    Settings settings = Settings.builder().put("vamana.codebook.sample.memory", "much").build();
    assertThrows(IllegalArgumentException.class, () -> Codebooks.SAMPLE_MEMORY.get(settings));
  }

  @Test
  public void testTheSystemIndex() {
    SystemIndexDescriptor index = CodebookIndex.descriptor();
    assertTrue(index.matchesIndexPattern(".vamana-codebooks"));
    assertTrue(index.matchesIndexPattern(".vamana-codebooks-1"));
    assertTrue(index.isAutomaticallyManaged());
    assertTrue(index.getSettings().getAsBoolean("index.hidden", false));
  }
}
