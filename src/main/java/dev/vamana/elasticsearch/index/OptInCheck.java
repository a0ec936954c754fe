package dev.vamana.elasticsearch.index;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.common.compress.CompressedXContent;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.mapper.MappingLookup;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.DenseVectorFieldType;

/**
 * Finds index settings of this plugin that have no effect: settings of graphs or codes without
 * {@code index.vamana.enabled}, and {@code index.vamana.enabled} where every vector field keeps the
 * stock format.
 */
public final class OptInCheck {
  private final IndexMappings mappings;

  public OptInCheck(IndexMappings mappings) {
    this.mappings = mappings;
  }

  /**
   * Checks a new index. Settings of a template pass, because one template serves indices that opt
   * in and others that do not.
   *
   * @param settings settings of the index
   * @param ofTemplate the settings that come from a template
   * @param given its mappings, the first one first
   * @return why the settings have no effect and what to do, or empty
   */
  Optional<String> check(
      String index,
      Settings settings,
      Settings ofTemplate,
      IndexVersion version,
      List<CompressedXContent> given) {
    Settings asked =
        settings.filter(key -> settings.get(key, "").equals(ofTemplate.get(key)) == false);
    Optional<String> alone = withoutEnabled(asked, settings);
    if (alone.isPresent() || enabled(asked) == false || given.isEmpty()) {
      return alone;
    }
    List<String> reasons = new ArrayList<>();
    mappings.parse(
        index, settings, version, given, mapping -> stock(mapping).ifPresent(reasons::add));
    return reasons.stream().findFirst();
  }

  /**
   * Checks an update of the settings of a closed index.
   *
   * @param changed the settings of the request; null values remove settings
   * @return why the settings have no effect and what to do, or empty
   */
  Optional<String> check(IndexMetadata index, Settings changed) {
    Settings after = Settings.builder().put(index.getSettings()).put(changed).build();
    return withoutEnabled(changed, after);
  }

  /**
   * Checks the mapping of an existing index that is to be opted in.
   *
   * @param changed the settings of the request
   */
  Optional<String> checkFields(IndexMetadata index, Settings changed) {
    List<String> reasons = new ArrayList<>();
    if (enabled(changed)) {
      mappings.parse(index, mapping -> stock(mapping).ifPresent(reasons::add));
    }
    return reasons.stream().findFirst();
  }

  private static boolean enabled(Settings settings) {
    return settings.get(VamanaSettings.ENABLED.getKey()) != null
        && VamanaSettings.ENABLED.get(settings);
  }

  /** An explicit {@code false} passes: it keeps the other settings for later. */
  private static Optional<String> withoutEnabled(Settings asked, Settings all) {
    Optional<String> codebook = ListSettings.codebook(all);
    if (codebook.isPresent() && asked.getByPrefix(VamanaSettings.PREFIX).isEmpty() == false) {
      return codebook;
    }
    if (all.get(VamanaSettings.ENABLED.getKey()) != null) {
      return Optional.empty();
    }
    return asked.keySet().stream()
        .filter(key -> asked.get(key) != null && VamanaSettings.needsEnabled(key))
        .sorted()
        .findFirst()
        .map(
            key ->
                "setting ["
                    + key
                    + "] is ["
                    + asked.get(key)
                    + "], but has no effect without ["
                    + VamanaSettings.ENABLED.getKey()
                    + "]: set that to [true] in the same request, or to [false] to keep the value"
                    + " for later");
  }

  private static Optional<String> stock(MappingLookup mapping) {
    TreeSet<String> reasons = new TreeSet<>();
    for (MappedFieldType type : mapping.getFullNameToFieldType().values()) {
      if (type instanceof DenseVectorFieldType vector) {
        Optional<String> reason =
            vector.indexType().hasVectors()
                ? VectorFieldFormats.reasonForStock(vector)
                : Optional.of("it is not indexed");
        if (reason.isEmpty()) {
          return Optional.empty();
        }
        reasons.add("field [" + vector.name() + "]: " + reason.get());
      }
    }
    return reasons.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "setting ["
                + VamanaSettings.ENABLED.getKey()
                + "] is [true], but every [dense_vector] field keeps the stock format ("
                + String.join("; ", reasons)
                + "): give a field [index_options] with type [hnsw], or leave out the setting");
  }
}
