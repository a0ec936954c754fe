package dev.vamana.elasticsearch.search.neighbors;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.fieldcaps.FieldCapabilities;
import org.elasticsearch.action.fieldcaps.FieldCapabilitiesRequest;
import org.elasticsearch.action.fieldcaps.FieldCapabilitiesResponse;
import org.elasticsearch.client.internal.Client;

/** Checks whether a field can have neighbours. */
final class SourceField {

  private static final String VECTORS = "dense_vector";

  private SourceField() {}

  /**
   * Checks the field of a request.
   *
   * @param fit notified if the field is a {@code dense_vector} of top-level documents; otherwise of
   *     an IllegalArgumentException
   */
  static void check(Client client, NeighborsRequest request, ActionListener<Void> fit) {
    String field = request.options().field();
    List<String> names = new ArrayList<>(List.of(field));
    for (int dot = field.indexOf('.'); dot > 0; dot = field.indexOf('.', dot + 1)) {
      names.add(field.substring(0, dot));
    }
    client.fieldCaps(
        new FieldCapabilitiesRequest()
            .indices(request.indices())
            .indicesOptions(request.indicesOptions())
            .fields(names.toArray(String[]::new)),
        fit.map(
            found -> {
              check(field, names, found);
              return null;
            }));
  }

  private static void check(String field, List<String> names, FieldCapabilitiesResponse found)
      throws Exception {
    if (found.getFailures().isEmpty() == false) {
      throw found.getFailures().get(0).getException();
    }
    Map<String, FieldCapabilities> types = found.getField(field);
    if (types == null || types.containsKey(VECTORS) == false) {
      throw new IllegalArgumentException(
          "[field] is ["
              + field
              + "], "
              + (types == null ? "which no mapping has" : "which is of type " + types.keySet())
              + ", allowed is a field of type ["
              + VECTORS
              + "]");
    }
    for (String parent : names.subList(1, names.size())) {
      Map<String, FieldCapabilities> above = found.getField(parent);
      if (above != null && above.containsKey("nested")) {
        throw new IllegalArgumentException(
            "[field] is ["
                + field
                + "], which belongs to the nested documents of ["
                + parent
                + "], allowed is a field of top-level documents");
      }
    }
  }
}
