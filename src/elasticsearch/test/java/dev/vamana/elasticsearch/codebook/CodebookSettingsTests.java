package dev.vamana.elasticsearch.codebook;

import static org.junit.Assert.assertEquals;

import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
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
}
