package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.ServerClasses;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.settings.Settings;
import org.junit.BeforeClass;

public class LeftoverSegmentsTests extends LuceneTestCase {

  @BeforeClass
  public static void readyServer() {
    ServerClasses.ready();
  }

  public void testPartiallyMountedSnapshotsAndOptedInIndicesAreNotLookedAt() {
    Settings.Builder mounted = Settings.builder().put("index.store.type", "snapshot");
    assertTrue(LeftoverSegments.looksAt(Settings.EMPTY));
    assertTrue(LeftoverSegments.looksAt(mounted.build()));
    assertFalse(
        LeftoverSegments.looksAt(mounted.put("index.store.snapshot.partial", true).build()));
    assertFalse(
        LeftoverSegments.looksAt(Settings.builder().put("index.vamana.enabled", true).build()));
  }
}
