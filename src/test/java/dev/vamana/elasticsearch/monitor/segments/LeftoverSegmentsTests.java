package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.ServerClasses;
import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.settings.Settings;
import org.junit.BeforeClass;

public class LeftoverSegmentsTests extends LuceneTestCase {

  @BeforeClass
  public static void readyServer() {
    ServerClasses.ready();
  }

  public void testPartiallyMountedSnapshotsAndOptedInIndicesAreNotLookedAt() {
    LeftoverSegments leftovers =
        new LeftoverSegments(List.of(), settings -> settings.getAsBoolean("in", false));
    Settings.Builder mounted = Settings.builder().put("index.store.type", "snapshot");
    assertTrue(leftovers.looksAt(Settings.EMPTY));
    assertTrue(leftovers.looksAt(mounted.build()));
    assertFalse(leftovers.looksAt(mounted.put("index.store.snapshot.partial", true).build()));
    assertFalse(leftovers.looksAt(Settings.builder().put("in", true).build()));
  }
}
