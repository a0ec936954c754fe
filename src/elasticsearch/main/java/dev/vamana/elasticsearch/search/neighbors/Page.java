package dev.vamana.elasticsearch.search.neighbors;

import dev.vamana.elasticsearch.search.QueryVectors;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * Some documents of an index.
 *
 * @param ids their ids
 * @param vectors their vectors, as {@code float[]} or {@code byte[]}
 */
record Page(List<String> ids, List<Object> vectors) {

  /** Bytes of an array without its elements, and of the references to it. */
  private static final int ARRAY_OVERHEAD = 32;

  int size() {
    return ids.size();
  }

  /** Returns this page without some of its documents. */
  Page without(Set<String> left) {
    List<String> keptIds = new ArrayList<>();
    List<Object> kept = new ArrayList<>();
    for (int i = 0; i < ids.size(); i++) {
      if (left.contains(ids.get(i)) == false) {
        keptIds.add(ids.get(i));
        kept.add(vectors.get(i));
      }
    }
    return new Page(keptIds, kept);
  }

  /** Returns the vectors in the form that a batched search takes. */
  QueryVectors queries() {
    return vectors.get(0) instanceof float[]
        ? QueryVectors.ofFloats(vectors.toArray(float[][]::new))
        : QueryVectors.ofBytes(vectors.toArray(byte[][]::new));
  }

  /** Memory of the vectors in bytes, for circuit breakers. */
  long ramBytesUsed() {
    long bytes = 0;
    for (Object vector : vectors) {
      bytes +=
          ARRAY_OVERHEAD
              + (vector instanceof float[] floats
                  ? (long) floats.length * Float.BYTES
                  : ((byte[]) vector).length);
    }
    return bytes;
  }

  /**
   * Reads a vector as a search returns the doc values of a field.
   *
   * @param values the values of a document
   * @return {@code float[]} or {@code byte[]}, or null if there is no vector
   */
  static Object vector(Collection<Object> values) {
    Object only = values.size() == 1 ? values.iterator().next() : null;
    if (only instanceof List<?> list) {
      only = list.toArray();
    }
    if (only instanceof Object[] components) {
      byte[] bytes = new byte[components.length];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = ((Number) components[i]).byteValue();
      }
      return bytes;
    }
    return only instanceof float[] || only instanceof byte[] ? only : null;
  }
}
