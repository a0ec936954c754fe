package dev.vamana.elasticsearch.index;

import dev.vamana.elasticsearch.ServerClasses;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.IndexVersion;
import org.junit.BeforeClass;

public class VamanaEngineFactoryTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static boolean applies(Settings settings) {
    return applies(settings, IndexVersion.current());
  }

  private static boolean applies(Settings settings, IndexVersion created) {
    IndexMetadata metadata =
        IndexMetadata.builder("index")
            .settings(
                Settings.builder()
                    .put(settings)
                    .put(IndexMetadata.SETTING_VERSION_CREATED, created)
                    .put(IndexMetadata.SETTING_INDEX_UUID, "uuid"))
            .numberOfShards(1)
            .numberOfReplicas(0)
            .build();
    return VamanaEngineFactory.appliesTo(new IndexSettings(metadata, Settings.EMPTY));
  }

  public void testOnlyIndicesThatMentionUs() {
    assertFalse(applies(Settings.EMPTY));
    assertFalse(applies(Settings.builder().put("index.vamana.max_degree", 32).build()));
    assertTrue(applies(Settings.builder().put("index.vamana.enabled", true).build()));
    // The way out: segments of ours are to be rewritten.
    assertTrue(applies(Settings.builder().put("index.vamana.enabled", false).build()));
  }

  public void testIndicesThatNeedAnotherEngine() {
    Settings enabled = Settings.builder().put("index.vamana.enabled", true).build();
    assertFalse(
        applies(Settings.builder().put(enabled).put("index.store.type", "snapshot").build()));
    assertFalse(
        applies(
            Settings.builder().put(enabled).put("index.xpack.ccr.following_index", true).build()));
    assertFalse(applies(enabled, IndexVersion.fromId(7_17_00_99)));
  }
}
