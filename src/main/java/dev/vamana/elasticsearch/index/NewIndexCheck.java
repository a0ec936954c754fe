package dev.vamana.elasticsearch.index;

import java.time.Instant;
import java.util.List;
import org.elasticsearch.cluster.metadata.MetadataIndexTemplateService;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.common.compress.CompressedXContent;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexMode;
import org.elasticsearch.index.IndexSettingProvider;
import org.elasticsearch.index.IndexVersion;

/**
 * Refuses a new index whose settings do not fit its mapping or have no effect. Elasticsearch calls
 * it as a provider of additional index settings, because only a provider sees both settings and
 * mapping of a new index; it adds no settings. Indices that are restored, cloned, shrunk or split
 * do not pass here.
 */
public final class NewIndexCheck implements IndexSettingProvider {
  private final CodebookSettingCheck codebooks;
  private final OptInCheck optIn;

  public NewIndexCheck(CodebookSettingCheck codebooks, OptInCheck optIn) {
    this.codebooks = codebooks;
    this.optIn = optIn;
  }

  @Override
  public void provideAdditionalSettings(
      String index,
      String dataStream,
      IndexMode templateMode,
      ProjectMetadata project,
      Instant resolvedAt,
      Settings settings,
      List<CompressedXContent> mappings,
      IndexVersion version,
      Settings.Builder additional) {
    if (settings.getByPrefix(VamanaSettings.PREFIX).isEmpty()) {
      return;
    }
    List<CompressedXContent> given = mappings == null ? List.of() : mappings;
    try {
      codebooks.check(index, settings, version, given);
    } catch (CodebookSettingCheck.Refusal e) {
      throw e.plain();
    }
    // of an index template that is being stored, since requests may add settings to it
    if (MetadataIndexTemplateService.VALIDATE_INDEX_NAME.equals(index) == false) {
      String name = dataStream == null ? index : dataStream;
      optIn
          .check(index, settings, ofTemplate(project, name, settings), version, given)
          .ifPresent(
              reason -> {
                throw new IllegalArgumentException(reason);
              });
    }
  }

  private static Settings ofTemplate(ProjectMetadata project, String name, Settings settings) {
    boolean hidden = settings.getAsBoolean("index.hidden", false);
    String template = MetadataIndexTemplateService.findV2Template(project, name, hidden);
    return template != null
        ? MetadataIndexTemplateService.resolveSettings(project, template)
        : MetadataIndexTemplateService.resolveSettings(
            MetadataIndexTemplateService.findV1Templates(project, name, hidden));
  }
}
