package dev.vamana.elasticsearch.index;

import dev.vamana.pq.SharedCodebook;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.common.compress.CompressedXContent;
import org.elasticsearch.common.logging.HeaderWarning;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.index.IndexMode;
import org.elasticsearch.index.IndexSettingProvider;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper;
import org.elasticsearch.xcontent.XContentType;

/**
 * Compares the settings of a new index with its mapping: it refuses a shared codebook of other
 * dimensions than its field's and a filter field of a type without doc values, and warns of fields
 * that Elasticsearch will rescore without benefit. Elasticsearch calls it as a provider of
 * additional index settings, because only a provider sees both settings and mapping of a new index;
 * it adds no settings.
 *
 * <p>A field that is not mapped yet passes, and so does a codebook that this node does not have. A
 * segment of such a field trains a codebook of its own, and the log says why.
 */
public final class NewIndexCheck implements IndexSettingProvider {
  private static final List<String> FILTER_TYPES =
      List.of(
          ("keyword boolean ip date date_nanos byte short integer long unsigned_long half_float"
                  + " float double scaled_float")
              .split(" "));

  private final Function<String, SharedCodebook> codebooks;

  /**
   * Makes a check.
   *
   * @param codebooks returns the shared codebook with a name, or null
   */
  public NewIndexCheck(Function<String, SharedCodebook> codebooks) {
    this.codebooks = codebooks;
  }

  /**
   * Checks a new index.
   *
   * @throws IllegalArgumentException if the dimensions of a field and its codebook differ, or the
   *     filter field has no doc values; names the setting, the value and what is allowed
   */
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
    if (mappings == null || VamanaSettings.ENABLED.get(settings) == false) {
      return;
    }
    Map<String, String> names = CodebookSetting.of(settings);
    String filterField = VamanaSettings.FILTER_FIELD.get(settings);
    for (CompressedXContent mapping : mappings) {
      Map<?, ?> root =
          XContentHelper.convertToMap(mapping.uncompressed(), false, XContentType.JSON).v2();
      Map<?, ?> fields = root.size() == 1 && root.get("_doc") instanceof Map<?, ?> doc ? doc : root;
      checkFields("", fields, names, filterField);
    }
  }

  private void checkFields(
      String path, Map<?, ?> parent, Map<String, String> names, String filterField) {
    for (String children : List.of("properties", "fields")) {
      if (parent.get(children) instanceof Map<?, ?> properties) {
        properties.forEach(
            (name, options) -> {
              if (options instanceof Map<?, ?> field) {
                check(path + name, field, names);
                if (filterField.equals(path + name)) {
                  checkFilterField(filterField, field);
                }
                checkFields(path + name + '.', field, names, filterField);
              }
            });
      }
    }
  }

  private void check(String field, Map<?, ?> options, Map<String, String> names) {
    if ("dense_vector".equals(options.get("type")) == false
        || (options.get("dims") instanceof Number) == false) {
      return;
    }
    int dims = ((Number) options.get("dims")).intValue();
    String name = names.get(field);
    SharedCodebook codebook = name == null ? null : codebooks.apply(name);
    if (codebook != null && codebook.dimension() != dims) {
      throw new IllegalArgumentException(
          "Invalid value ["
              + name
              + "] for setting ["
              + CodebookSetting.key(field)
              + "]: that field has dims ["
              + dims
              + "], codebook ["
              + name
              + "] version ["
              + codebook.version()
              + "] has ["
              + codebook.dimension()
              + "]");
    }
    if (isRescored(options, dims)) {
      HeaderWarning.addWarning(
          "field [{}] is of type [bbq_hnsw], by which a search fetches three times as many hits and"
              + " scores them again; with [{}] scores are exact already: set [index_options] of the"
              + " field to [{\"type\": \"hnsw\"}]",
          field,
          VamanaSettings.ENABLED.getKey());
    }
  }

  private static void checkFilterField(String field, Map<?, ?> options) {
    Object type = options.containsKey("type") ? options.get("type") : "object";
    boolean docValues = "false".equals(String.valueOf(options.get("doc_values"))) == false;
    if (docValues && FILTER_TYPES.contains(type)) {
      return;
    }
    throw new IllegalArgumentException(
        String.format(
            Locale.ROOT,
            "Invalid value [%s] for setting [%s]: that field has type [%s]%s, allowed are %s with"
                + " doc values",
            field,
            VamanaSettings.FILTER_FIELD.getKey(),
            type,
            docValues ? "" : " without [doc_values]",
            FILTER_TYPES));
  }

  /** Whether Elasticsearch's default for the field is to fetch more hits and score them again. */
  private static boolean isRescored(Map<?, ?> options, int dims) {
    if (options.get("index_options") instanceof Map<?, ?> given) {
      return "bbq_hnsw".equals(given.get("type")) && given.get("rescore_vector") == null;
    }
    Object element = options.get("element_type");
    boolean floats = element == null || "float".equals(element) || "bfloat16".equals(element);
    boolean indexed = "false".equals(String.valueOf(options.get("index"))) == false;
    return floats && indexed && dims >= DenseVectorFieldMapper.BBQ_DIMS_DEFAULT_THRESHOLD;
  }
}
