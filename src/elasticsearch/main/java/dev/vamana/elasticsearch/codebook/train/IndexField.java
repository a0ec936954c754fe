package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.admin.indices.mapping.get.GetFieldMappingsAction;
import org.elasticsearch.action.admin.indices.mapping.get.GetFieldMappingsRequest;
import org.elasticsearch.action.admin.indices.mapping.get.GetFieldMappingsResponse.FieldMappingMetadata;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.common.Strings;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorSimilarity;

/** Reads the dims and similarity of a vector field from the mappings of indices. */
public final class IndexField {
  private static final Set<String> FLOATS = Set.of("float", "bfloat16");

  private IndexField() {}

  /**
   * Reads the dims and similarity of a field.
   *
   * @param index names, aliases and patterns, separated by commas
   * @param listener receives them, or an IllegalArgumentException if the field is unsuitable
   */
  public static void space(
      Client client, String index, String field, ActionListener<VectorSpace> listener) {
    GetFieldMappingsRequest request =
        new GetFieldMappingsRequest()
            .indices(Strings.splitStringByCommaToArray(index))
            .indicesOptions(IndicesOptions.strictExpandOpenAndForbidClosed())
            .fields(field)
            .includeDefaults(true);
    client.execute(
        GetFieldMappingsAction.INSTANCE,
        request,
        listener.map(found -> space(field, found.mappings())));
  }

  private static VectorSpace space(
      String field, Map<String, Map<String, FieldMappingMetadata>> indices) {
    Set<VectorSpace> spaces = new HashSet<>();
    indices.forEach(
        (index, fields) -> {
          String where = "field [" + field + "] of index [" + index + "]";
          spaces.add(space(where, fields.get(field)));
        });
    if (spaces.size() != 1) {
      throw new IllegalArgumentException(
          "field ["
              + field
              + "] must have the same dims and similarity in all indices, but "
              + indices.keySet()
              + " have "
              + spaces);
    }
    return spaces.iterator().next();
  }

  private static VectorSpace space(String where, FieldMappingMetadata mapping) {
    Object found =
        mapping == null ? null : mapping.sourceAsMap().values().stream().findFirst().orElse(null);
    Map<?, ?> options = found instanceof Map<?, ?> map ? map : Map.of();
    if (!"dense_vector".equals(options.get("type"))) {
      throw new IllegalArgumentException(
          where + " must be of type [dense_vector], is of type [" + options.get("type") + "]");
    }
    Object element = options.get("element_type");
    if (element != null && !FLOATS.contains(element)) {
      throw new IllegalArgumentException(
          where + " must have element_type float or bfloat16, has [" + element + "]");
    }
    if (!(options.get("dims") instanceof Number dims)) {
      throw new IllegalArgumentException(
          where + " has no dims yet: set them in the mapping, or index a vector");
    }
    Object similarity = options.get("similarity");
    return new VectorSpace(
        dims.intValue(),
        similarity == null
            ? VectorSimilarity.COSINE
            : VectorSpace.similarity(similarity.toString()));
  }
}
