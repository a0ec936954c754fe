package dev.vamana.elasticsearch.codebook.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.elasticsearch.Version;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.indices.SystemIndexDescriptor;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentFactory;

/** The system index of codebooks: one document per codebook, with the codebook's name as its id. */
public final class CodebookIndex {
  /** The index's name. */
  public static final String NAME = ".vamana-codebooks";

  /** The field with the bytes of {@link dev.vamana.pq.SharedCodebook#toBytes}. */
  static final String DATA = "data";

  /**
   * Origin of the plugin's reads and writes of the index. Security accepts only Elasticsearch's own
   * origins; this one is for work that outlives the request that started it, as trainings do.
   */
  public static final String ORIGIN = "persistent_tasks";

  /** The field with what {@link CodebookEntry#stored} describes. */
  static final String ENTRY = "codebook";

  private static final int MAPPINGS_VERSION = 1;

  private CodebookIndex() {}

  /** Describes the index, so that Elasticsearch can create and upgrade it. */
  public static SystemIndexDescriptor descriptor() {
    return SystemIndexDescriptor.builder()
        .setIndexPattern(NAME + "*")
        .setPrimaryIndex(NAME + "-1")
        .setAliasName(NAME)
        .setIndexFormat(1)
        .setDescription("Codebooks of product quantization that indices share")
        .setOrigin(ORIGIN)
        .setSettings(
            Settings.builder()
                .put(IndexMetadata.SETTING_NUMBER_OF_SHARDS, 1)
                .put(IndexMetadata.SETTING_AUTO_EXPAND_REPLICAS, "0-1")
                .put(IndexMetadata.INDEX_FORMAT_SETTING.getKey(), 1)
                .put(IndexMetadata.SETTING_INDEX_HIDDEN, true)
                .build())
        .setMappings(mappings())
        .build();
  }

  private static XContentBuilder mappings() {
    try {
      XContentBuilder json = XContentFactory.jsonBuilder().startObject().startObject("_doc");
      json.startObject("_meta");
      json.field("version", Version.CURRENT.toString());
      json.field(SystemIndexDescriptor.VERSION_META_KEY, MAPPINGS_VERSION);
      json.endObject();
      json.field("dynamic", "strict");
      json.startObject("properties");
      json.startObject(DATA).field("type", "binary").endObject();
      json.startObject(ENTRY).field("type", "object").field("enabled", false).endObject();
      return json.endObject().endObject().endObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
