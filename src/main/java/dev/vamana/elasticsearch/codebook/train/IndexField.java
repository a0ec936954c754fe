package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.pq.SubspaceLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.admin.indices.mapping.get.GetFieldMappingsAction;
import org.elasticsearch.action.admin.indices.mapping.get.GetFieldMappingsRequest;
import org.elasticsearch.action.admin.indices.mapping.get.GetFieldMappingsResponse;
import org.elasticsearch.action.admin.indices.mapping.get.GetFieldMappingsResponse.FieldMappingMetadata;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.common.Strings;
import org.elasticsearch.indices.IndexClosedException;

/** Reads the dims and similarity of a vector field from the mappings of indices. */
final class IndexField {
  private static final Set<String> FLOATS = Set.of("float", "bfloat16");

  private IndexField() {}

  /**
   * Reads the dims and similarity of a field.
   *
   * @param index names, aliases and patterns, separated by commas
   * @param listener receives them, or an IllegalArgumentException if the field is unsuitable
   */
  static void space(
      Client client, String index, String field, ActionListener<VectorSpace> listener) {
    GetFieldMappingsRequest request =
        new GetFieldMappingsRequest()
            .indices(Strings.splitStringByCommaToArray(index))
            .indicesOptions(IndicesOptions.strictExpandOpenAndForbidClosed())
            .fields(field)
            .includeDefaults(true);
    ActionListener<VectorSpace> named =
        listener.delegateResponse(
            (l, e) -> l.onFailure(e instanceof IndexClosedException closed ? closed(closed) : e));
    client.execute(
        GetFieldMappingsAction.INSTANCE, request, named.map(found -> space(field, found)));
  }

  private static IllegalArgumentException closed(IndexClosedException e) {
    return new IllegalArgumentException(
        "index [" + e.getIndex().getName() + "] is closed: open it before you train from it");
  }

  private static VectorSpace space(String field, GetFieldMappingsResponse response) {
    Map<VectorSpace, String> spaces = new HashMap<>();
    response
        .mappings()
        .forEach(
            (index, fields) -> {
              FieldMappingMetadata mapping = fields.get(field);
              if (mapping == null) {
                throw new IllegalArgumentException(
                    "index [" + index + "] has no field [" + field + "]");
              }
              spaces.put(space(index, field, mapping), index);
            });
    if (spaces.isEmpty()) {
      throw new IllegalArgumentException("no readable index has field [" + field + "]");
    }
    if (spaces.size() > 1) {
      throw new IllegalArgumentException(
          "field ["
              + field
              + "] must have the same dims and similarity in all indices, differs in "
              + spaces.values());
    }
    return spaces.keySet().iterator().next();
  }

  private static VectorSpace space(String index, String field, FieldMappingMetadata mapping) {
    Object inner = mapping.sourceAsMap().values().stream().findFirst().orElse(Map.of());
    Map<?, ?> options = inner instanceof Map<?, ?> map ? map : Map.of();
    String where = "field [" + field + "] of index [" + index + "]";
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
    if (dims.intValue() > SubspaceLayout.MAX_DIMS) {
      throw new IllegalArgumentException(
          where
              + " must have at most "
              + SubspaceLayout.MAX_DIMS
              + " dims, has "
              + dims.intValue());
    }
    Object similarity = options.get("similarity");
    return new VectorSpace(
        dims.intValue(),
        similarity == null
            ? VectorSpace.Similarity.COSINE
            : VectorSpace.Similarity.of(similarity.toString()));
  }
}
