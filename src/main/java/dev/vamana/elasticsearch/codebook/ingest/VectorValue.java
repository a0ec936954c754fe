package dev.vamana.elasticsearch.codebook.ingest;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.List;

/** Reads vectors from documents in the forms that a {@code dense_vector} of floats accepts. */
final class VectorValue {
  private VectorValue() {}

  /**
   * Reads the vector in a field's value.
   *
   * @param value a list of numbers, or big-endian 32-bit floats as bytes or in Base64
   * @param dims expected number of components
   * @return a new array, or null if the value has none of these forms
   */
  static float[] parse(Object value, int dims) {
    if (value instanceof List<?> list) {
      return ofNumbers(list, dims);
    }
    if (value instanceof String text) {
      try {
        return ofBytes(Base64.getDecoder().decode(text), dims);
      } catch (IllegalArgumentException e) {
        return null;
      }
    }
    return value instanceof byte[] bytes ? ofBytes(bytes, dims) : null;
  }

  private static float[] ofNumbers(List<?> list, int dims) {
    if (list.size() != dims) {
      return null;
    }
    float[] vector = new float[dims];
    for (int i = 0; i < dims; i++) {
      if (!(list.get(i) instanceof Number number)) {
        return null;
      }
      vector[i] = number.floatValue();
    }
    return vector;
  }

  private static float[] ofBytes(byte[] bytes, int dims) {
    if (bytes.length != dims * Float.BYTES) {
      return null;
    }
    float[] vector = new float[dims];
    ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN).asFloatBuffer().get(vector);
    return vector;
  }
}
