package dev.vamana.elasticsearch.index;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Consumer;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.common.UUIDs;
import org.elasticsearch.common.compress.CompressedXContent;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.CheckedFunction;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.index.mapper.MapperService;
import org.elasticsearch.index.mapper.MappingLookup;

/** Parses mappings, also of indices that do not exist yet. */
public final class IndexMappings {
  private static final List<String> PARSED_WITH =
      List.of("index.analysis.", "index.mapping.", "index.similarity.");

  private final CheckedFunction<IndexMetadata, MapperService, IOException> mappers;

  /**
   * Makes a parser.
   *
   * @param mappers makes the mapper service of an index
   */
  public IndexMappings(CheckedFunction<IndexMetadata, MapperService, IOException> mappers) {
    this.mappers = mappers;
  }

  /**
   * Parses the mappings of a new index, the first one first.
   *
   * @param settings settings of the index
   * @param use receives the merged mapping
   */
  void parse(
      String index,
      Settings settings,
      IndexVersion version,
      List<CompressedXContent> mappings,
      Consumer<MappingLookup> use) {
    parse(
        metadata(index, settings, version),
        mappings,
        MapperService.MergeReason.INDEX_TEMPLATE,
        use);
  }

  /** Parses the mapping of an existing index; does nothing if it has none. */
  void parse(IndexMetadata index, Consumer<MappingLookup> use) {
    if (index.mapping() != null) {
      parse(
          metadata(index.getIndex().getName(), index.getSettings(), index.getCreationVersion()),
          List.of(index.mapping().source()),
          MapperService.MergeReason.MAPPING_RECOVERY,
          use);
    }
  }

  private void parse(
      IndexMetadata index,
      List<CompressedXContent> mappings,
      MapperService.MergeReason reason,
      Consumer<MappingLookup> use) {
    try (MapperService service = mappers.apply(index)) {
      service.merge(MapperService.SINGLE_MAPPING_NAME, mappings, reason);
      use.accept(service.mappingLookup());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Makes metadata of an index that is sufficient to parse the mapping. It leaves out the index
   * mode: the mode does not affect vector fields, and it would require other settings.
   */
  private static IndexMetadata metadata(String index, Settings settings, IndexVersion version) {
    Settings needed =
        settings.filter(key -> PARSED_WITH.stream().anyMatch(prefix -> key.startsWith(prefix)));
    return IndexMetadata.builder(index)
        .settings(
            Settings.builder()
                .put(needed)
                .put(IndexMetadata.SETTING_VERSION_CREATED, version)
                .put(IndexMetadata.SETTING_INDEX_UUID, UUIDs.randomBase64UUID()))
        .numberOfShards(1)
        .numberOfReplicas(0)
        .build();
  }
}
