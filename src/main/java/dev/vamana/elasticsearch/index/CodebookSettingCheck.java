package dev.vamana.elasticsearch.index;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.pq.SharedCodebook;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.compress.CompressedXContent;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.mapper.Mapper;
import org.elasticsearch.index.mapper.MappingLookup;
import org.elasticsearch.index.mapper.ObjectMapper;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.DenseVectorFieldType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.ElementType;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentType;
import org.elasticsearch.xcontent.json.JsonXContent;

/**
 * Rejects index settings that name a codebook for a field that cannot use it, when an index is
 * created or a closed index is updated.
 *
 * <p>Two cases pass: a field that is not mapped yet but that documents may still add, and a
 * codebook that this node does not have. Both are checked again when a segment is written.
 */
public final class CodebookSettingCheck {
  /** Names the setting and its value, and the reason why the field cannot use the codebook. */
  static final class Refusal extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private final String reason;

    private Refusal(String field, String name, String reason) {
      super(
          "Invalid value ["
              + name
              + "] for setting ["
              + CodebookSetting.key(field)
              + "]: "
              + reason);
      this.reason = reason;
    }

    /** The message without setting and value. */
    String reason() {
      return reason;
    }

    /** An error with the same message; Elasticsearch names the type of an error by its class. */
    IllegalArgumentException plain() {
      return new IllegalArgumentException(getMessage());
    }
  }

  private final IndexMappings mappings;
  private final Function<String, SharedCodebook> codebooks;

  /**
   * What a field is compared with.
   *
   * @param codebook name and version, for people to read
   */
  private record Target(String codebook, int dims, VectorSimilarityFunction similarity) {
    static Target of(SharedCodebook shared) {
      return shared == null
          ? null
          : new Target(
              "codebook [" + shared.name() + "] version [" + shared.version() + "]",
              shared.dimension(),
              shared.similarity());
    }
  }

  /**
   * Makes a check.
   *
   * @param mappings parses the mappings
   * @param codebooks returns the shared codebook with a name, or null
   */
  public CodebookSettingCheck(IndexMappings mappings, Function<String, SharedCodebook> codebooks) {
    this.mappings = mappings;
    this.codebooks = codebooks;
  }

  /**
   * Compares the codebooks of a new index with its mapping.
   *
   * @param settings settings of the index
   * @param given its mappings, the first one first
   * @throws Refusal if a field cannot use its codebook; the message has the setting, the value and
   *     the reason
   */
  void check(
      String index, Settings settings, IndexVersion version, List<CompressedXContent> given) {
    Map<String, String> names = CodebookSetting.of(settings);
    if (names.isEmpty() == false && given.isEmpty() == false) {
      mappings.parse(
          index, settings, version, given, mapping -> check(names, mapping, version, this::ready));
    }
  }

  /**
   * Compares new codebooks of an existing index with its mapping.
   *
   * @param index the index
   * @param names codebook names by field
   * @throws Refusal if a field cannot use its codebook
   */
  void check(IndexMetadata index, Map<String, String> names) {
    IndexVersion version = index.getCreationVersion();
    mappings.parse(index, mapping -> check(names, mapping, version, this::ready));
  }

  /**
   * Compares the mapping of an existing index with a codebook that is to replace the present one.
   *
   * @param names codebook names by field
   * @param next the vectors that the codebook is for
   * @throws Refusal if a field cannot use it
   */
  void check(IndexMetadata index, Map<String, String> names, VectorSpace next) {
    IndexVersion version = index.getCreationVersion();
    Target target = new Target("the new version", next.dims(), next.function());
    mappings.parse(index, mapping -> check(names, mapping, version, name -> target));
  }

  private Target ready(String name) {
    return Target.of(codebooks.apply(name));
  }

  private static void check(
      Map<String, String> names,
      MappingLookup mapping,
      IndexVersion version,
      Function<String, Target> targets) {
    names.forEach((field, name) -> check(field, name, mapping, version, targets.apply(name)));
  }

  private static void check(
      String field, String name, MappingLookup mapping, IndexVersion version, Target target) {
    MappedFieldType type = mapping.getFieldType(field);
    if (type == null) {
      checkUnmapped(field, name, mapping);
      return;
    }
    if (type.name().equals(field) == false) {
      throw refused(field, name, "that field is an alias of [" + type.name() + "]");
    }
    if (!(type instanceof DenseVectorFieldType vector)) {
      String found = "is of type [" + type.typeName() + "], expected [dense_vector]";
      throw refused(field, name, "that field " + found);
    }
    ElementType element = vector.getElementType();
    if (element == ElementType.BYTE || element == ElementType.BIT) {
      String found = "has element_type [" + element + "], expected [float] or [bfloat16]";
      throw refused(field, name, "that field " + found);
    }
    if (vector.indexType().hasVectors() == false) {
      throw refused(field, name, "that field is not indexed");
    }
    VectorFieldFormats.reasonForStock(vector)
        .ifPresent(
            reason -> {
              throw refused(field, name, "that field keeps the stock vector format: " + reason);
            });
    if (target != null) {
      checkFit(vector, name, dims(mapping.getMapper(field)), version, target);
    }
  }

  private static void checkUnmapped(String field, String name, MappingLookup mapping) {
    if (mapping.isObjectField(field)) {
      throw refused(field, name, "that field is of type [object], expected [dense_vector]");
    }
    ObjectMapper.Dynamic dynamic =
        mapping.getMapping() == null ? null : mapping.getMapping().getRoot().dynamic();
    if (dynamic == ObjectMapper.Dynamic.STRICT || dynamic == ObjectMapper.Dynamic.FALSE) {
      throw refused(
          field, name, "that field is not mapped, and [dynamic] keeps documents from adding it");
    }
  }

  /**
   * Compares a field with its codebook.
   *
   * @param dims dims of the field, or null if its first document decides
   */
  private static void checkFit(
      DenseVectorFieldType vector, String name, Integer dims, IndexVersion version, Target target) {
    if (dims != null && dims != target.dims()) {
      String found =
          "has dims [" + dims + "], " + target.codebook() + " has [" + target.dims() + "]";
      throw refused(vector.name(), name, "that field " + found);
    }
    VectorSimilarityFunction similarity =
        vector.getSimilarity().vectorSimilarityFunction(version, vector.getElementType());
    if (VectorSpace.names(similarity).equals(VectorSpace.names(target.similarity())) == false) {
      String found =
          "has similarity ["
              + vector.getSimilarity()
              + "], "
              + target.codebook()
              + " is for "
              + VectorSpace.names(target.similarity());
      throw refused(vector.name(), name, "that field " + found);
    }
  }

  /**
   * The dims in the mapping, or null. Read from the mapper's JSON, since the field type throws
   * without dims.
   */
  private static Integer dims(Mapper mapper) {
    try (XContentBuilder json = JsonXContent.contentBuilder()) {
      json.startObject();
      mapper.toXContent(json, ToXContent.EMPTY_PARAMS);
      json.endObject();
      Map<String, Object> described =
          XContentHelper.convertToMap(BytesReference.bytes(json), false, XContentType.JSON).v2();
      return described.get(mapper.leafName()) instanceof Map<?, ?> options
              && options.get("dims") instanceof Number dims
          ? dims.intValue()
          : null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Refusal refused(String field, String name, String reason) {
    return new Refusal(field, name, reason);
  }
}
