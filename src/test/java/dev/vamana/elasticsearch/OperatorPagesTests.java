package dev.vamana.elasticsearch;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.elasticsearch.monitor.Trouble;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.junit.BeforeClass;

/** The pages for operators name what the code says: reasons, troubles, messages, settings. */
public class OperatorPagesTests extends LuceneTestCase {
  private static final Path STATISTICS = Path.of("docs/operators/statistics.md");
  private static final Path TROUBLESHOOTING = Path.of("docs/operators/troubleshooting.md");
  private static final Path EXAMPLES = Path.of("docs/operators/examples.md");

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  public void testEveryFallbackReasonIsExplained() throws IOException {
    String statistics = Files.readString(STATISTICS);
    String troubleshooting = Files.readString(TROUBLESHOOTING);
    for (FallbackReason reason : FallbackReason.values()) {
      String name = "`" + reason.statisticsName() + "`";
      assertTrue(name + " in " + STATISTICS, statistics.contains("\n| " + name + " |"));
      assertTrue(name + " in " + TROUBLESHOOTING, troubleshooting.contains(name));
    }
  }

  public void testEveryTroubleIsExplained() throws IOException {
    String statistics = Files.readString(STATISTICS);
    for (Trouble.Kind kind : Trouble.Kind.values()) {
      assertTrue(kind.label(), statistics.contains("\n| `" + kind.label() + "` |"));
    }
  }

  public void testSettingsOfTheExampleAreAccepted() throws IOException {
    List<String> blocks = PrintedCommands.blocks(EXAMPLES, "yaml");
    assertEquals(1, blocks.size());
    int found = 0;
    for (String line : blocks.get(0).lines().toList()) {
      if (line.startsWith("vamana.")) {
        String[] parts = line.split(": ", 2);
        Setting<?> setting =
            VamanaPlugin.SETTINGS.stream()
                .filter(each -> each.getKey().equals(parts[0]))
                .findFirst()
                .orElseThrow(() -> new AssertionError(line));
        assertTrue(line, setting.hasNodeScope());
        assertNotNull(line, setting.get(Settings.builder().put(parts[0], parts[1]).build()));
        found++;
      }
    }
    assertTrue(found >= 8);
  }
}
