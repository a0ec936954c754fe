package dev.vamana.elasticsearch.index;

import dev.vamana.elasticsearch.ServerClasses;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Settings;
import org.junit.BeforeClass;

public class BuildMemoryLimitTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static Settings settings(String limit) {
    return Settings.builder().put("vamana.build.memory.limit", limit).build();
  }

  public void testStatsFollowTheSetting() {
    BuildMemory memory = new BuildMemory(settings("100b"));
    ClusterSettings cluster = new ClusterSettings(settings("100b"), Set.of(BuildMemory.LIMIT));
    memory.follow(cluster);
    assertTrue(memory.budget().reserve(70));
    memory.budget().countFile();
    assertEquals(Map.of("limit", 100L, "used", 70L, "files", 1L), memory.stats());
    cluster.applySettings(settings("1kb"));
    assertEquals(1_024L, (long) memory.stats().get("limit"));
    cluster.applySettings(settings("-1"));
    assertEquals(Map.of("used", 70L, "files", 1L), memory.stats());
    assertTrue(memory.budget().reserve(1L << 40));
  }
}
