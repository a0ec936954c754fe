package dev.vamana.elasticsearch.codebook.rest;

import dev.vamana.elasticsearch.codebook.action.PutCodebookRequest;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.CodebookTraining;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.StringHelper;

/**
 * Parses the body of an import. An invalid field causes an IllegalArgumentException that names it.
 */
final class CodebookBody {
  private static final Set<String> FIELDS =
      Set.of("data", "dims", "subspaces", "similarity", "centroids", "byte_order", "trained_from");

  private CodebookBody() {}

  static PutCodebookRequest read(String name, Map<String, Object> body, boolean force) {
    SharedCodebook.checkName(name);
    Set<String> unknown = new TreeSet<>(body.keySet());
    unknown.removeAll(FIELDS);
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(
          "unknown " + unknown + ", known are " + new TreeSet<>(FIELDS));
    }
    if (body.containsKey("data") == body.containsKey("centroids")) {
      throw new IllegalArgumentException("exactly one of [data] and [centroids] must be given");
    }
    return body.containsKey("data") ? ofData(name, body, force) : ofCentroids(name, body, force);
  }

  private static PutCodebookRequest ofData(String name, Map<String, Object> body, boolean force) {
    for (String field : List.of("dims", "subspaces", "byte_order", "trained_from")) {
      if (body.containsKey(field)) {
        throw new IllegalArgumentException("[" + field + "] is part of [data] already");
      }
    }
    SharedCodebook given = SharedCodebook.fromBytes(base64("data", text(body, "data")));
    checkFinite("data", FloatBuffer.wrap(given.codebook().centroids()));
    checkDistinct("data", given.codebook().layout(), given.codebook().centroids());
    SharedCodebook codebook =
        new SharedCodebook(name, 1, given.codebook(), given.similarity(), given.training());
    VectorSpace.Similarity similarity = similarity(given.similarity());
    if (body.containsKey("similarity")) {
      similarity = VectorSpace.Similarity.of(text(body, "similarity"));
      if (similarity.function() != similarity(given.similarity()).function()) {
        throw new IllegalArgumentException(
            "[similarity] is ["
                + similarity.label()
                + "], but [data] is for "
                + VectorSpace.Similarity.labels(given.similarity()));
      }
    }
    return new PutCodebookRequest(codebook, similarity, force);
  }

  private static VectorSpace.Similarity similarity(VectorSimilarityFunction function) {
    return switch (function) {
      case EUCLIDEAN -> VectorSpace.Similarity.L2_NORM;
      case COSINE, DOT_PRODUCT -> VectorSpace.Similarity.COSINE;
      case MAXIMUM_INNER_PRODUCT -> VectorSpace.Similarity.MAX_INNER_PRODUCT;
    };
  }

  private static PutCodebookRequest ofCentroids(
      String name, Map<String, Object> body, boolean force) {
    int dims = number(body, "dims");
    int subspaces = body.containsKey("subspaces") ? number(body, "subspaces") : 0;
    VectorSpace.Similarity similarity = VectorSpace.Similarity.of(text(body, "similarity"));
    SampleOptions.checkDims(dims);
    SampleOptions.checkSubspaces(subspaces, dims);
    SubspaceLayout layout = SampleOptions.layout(dims, subspaces);
    float[] centroids = new float[Codebook.CENTROIDS * dims];
    ByteOrder order = byteOrder(body);
    Object given = body.get("centroids");
    if (given instanceof String encoded) {
      byte[] bytes = base64("centroids", encoded);
      if (bytes.length != centroids.length * Float.BYTES) {
        throw new IllegalArgumentException(
            "[centroids] must have "
                + centroids.length * Float.BYTES
                + " bytes for "
                + dims
                + " dims, has "
                + bytes.length);
      }
      ByteBuffer.wrap(bytes).order(order).asFloatBuffer().get(centroids);
    } else {
      fill(layout, given, FloatBuffer.wrap(centroids));
    }
    checkFinite("centroids", FloatBuffer.wrap(centroids));
    checkDistinct("centroids", layout, centroids);
    String from = body.containsKey("trained_from") ? text(body, "trained_from") : "import";
    SharedCodebook codebook =
        new SharedCodebook(
            name,
            1,
            new Codebook(new CodebookId(StringHelper.randomId(), name, 1), layout, centroids),
            similarity.function(),
            new CodebookTraining(0, 0, 0, from));
    return new PutCodebookRequest(codebook, similarity, force);
  }

  private static ByteOrder byteOrder(Map<String, Object> body) {
    if (!body.containsKey("byte_order")) {
      return ByteOrder.BIG_ENDIAN;
    }
    return switch (text(body, "byte_order")) {
      case "big_endian" -> ByteOrder.BIG_ENDIAN;
      case "little_endian" -> ByteOrder.LITTLE_ENDIAN;
      default ->
          throw new IllegalArgumentException(
              "[byte_order] must be [big_endian] or [little_endian], got ["
                  + body.get("byte_order")
                  + "]");
    };
  }

  private static void fill(SubspaceLayout layout, Object given, FloatBuffer centroids) {
    List<?> subspaces = list("[centroids]", given, layout.count());
    for (int s = 0; s < layout.count(); s++) {
      String where = "[centroids] of subspace " + s;
      for (Object row : list(where, subspaces.get(s), Codebook.CENTROIDS)) {
        for (Object component : list("each of " + where, row, layout.length(s))) {
          if (!(component instanceof Number number)) {
            throw new IllegalArgumentException(where + " must be numbers, got [" + component + "]");
          }
          centroids.put(number.floatValue());
        }
      }
    }
  }

  private static List<?> list(String what, Object value, int size) {
    if (value instanceof List<?> list && list.size() == size) {
      return list;
    }
    String got = value instanceof List<?> list ? list.size() + " elements" : "no array";
    throw new IllegalArgumentException(
        what + " must be an array of " + size + " elements, got " + got);
  }

  private static void checkFinite(String field, FloatBuffer values) {
    while (values.hasRemaining()) {
      float value = values.get();
      if (!Float.isFinite(value)) {
        throw new IllegalArgumentException("[" + field + "] must be finite, has [" + value + "]");
      }
    }
  }

  /** A subspace of equal centroids is fine where components are constant, but not all of them. */
  private static void checkDistinct(String field, SubspaceLayout layout, float[] centroids) {
    int start = 0;
    for (int s = 0; s < layout.count(); s++) {
      int length = layout.length(s);
      for (int i = length; i < Codebook.CENTROIDS * length; i++) {
        if (centroids[start + i] != centroids[start + i % length]) {
          return;
        }
      }
      start += Codebook.CENTROIDS * length;
    }
    throw new IllegalArgumentException(
        "["
            + field
            + "] must have different centroids in at least one subspace, but in each subspace all "
            + Codebook.CENTROIDS
            + " are equal, so all vectors would have the same code");
  }

  private static byte[] base64(String field, String text) {
    try {
      return Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("[" + field + "] must be Base64: " + e.getMessage(), e);
    }
  }

  private static String text(Map<String, Object> body, String field) {
    if (body.get(field) instanceof String text) {
      return text;
    }
    throw new IllegalArgumentException(
        "[" + field + "] must be text, got [" + body.get(field) + "]");
  }

  private static int number(Map<String, Object> body, String field) {
    if (body.get(field) instanceof Integer number) {
      return number;
    }
    throw new IllegalArgumentException(
        "[" + field + "] must be a whole number, got [" + body.get(field) + "]");
  }
}
