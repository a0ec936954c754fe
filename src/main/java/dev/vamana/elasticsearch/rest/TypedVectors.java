package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.QueryVectors;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Arrays;

/** Converts the parsed vectors of a body once element type and dims are known. */
final class TypedVectors {
  private final ElementType elementType;
  private final ByteOrder order;
  private final Integer dims;
  private final int maxVectors;

  /** The type of the values in base64 strings. */
  enum ElementType {
    FLOAT,
    BYTE
  }

  /**
   * Makes a converter.
   *
   * @param elementType element type in the body, or null
   * @param order order of the bytes of a float
   * @param dims dimensions in the body, or null
   */
  TypedVectors(ElementType elementType, ByteOrder order, Integer dims, int maxVectors) {
    this.elementType = elementType;
    this.order = order;
    this.dims = dims;
    this.maxVectors = maxVectors;
  }

  /**
   * Converts the vectors of a body. Bytes of an undeclared type stay bytes; the shards interpret
   * them by their mapping, floats as big-endian.
   *
   * @throws IllegalArgumentException if the lengths do not match, a component is not a finite float
   *     or not a byte, or there are too many vectors
   */
  QueryVectors of(QueryVectorsParser.Parsed parsed) {
    if (parsed.numbers() != null) {
      return ofNumbers(parsed.numbers());
    }
    return parsed.rows() == null ? ofWhole(parsed.whole()) : ofRows(parsed.rows());
  }

  private QueryVectors ofNumbers(float[][] numbers) {
    if (dims != null && dims != numbers[0].length) {
      throw BadBody.of(
          "[%s] has %d dimensions, but [dims] is [%d]", at(0), numbers[0].length, dims);
    }
    if (elementType != ElementType.BYTE) {
      return QueryVectors.ofFloats(numbers);
    }
    byte[][] vectors = new byte[numbers.length][];
    for (int i = 0; i < numbers.length; i++) {
      vectors[i] = bytes(numbers[i], i);
    }
    return QueryVectors.ofBytes(vectors);
  }

  private static byte[] bytes(float[] numbers, int index) {
    byte[] vector = new byte[numbers.length];
    for (int i = 0; i < vector.length; i++) {
      vector[i] = (byte) numbers[i];
      if (vector[i] != numbers[i]) {
        throw BadBody.of(
            "[%s[%d]] is [%s], allowed are whole numbers from -128 to 127, since [element_type] is"
                + " [byte]",
            at(index), i, numbers[i]);
      }
    }
    return vector;
  }

  private QueryVectors ofRows(byte[][] rows) {
    int length = rows[0].length;
    boolean fits =
        switch (elementType) {
          case FLOAT -> dims == null ? length % Float.BYTES == 0 : length == dims * Float.BYTES;
          case BYTE -> dims == null || length == dims;
          case null -> dims == null || length == dims || length == dims * Float.BYTES;
        };
    if (fits == false) {
      throw BadBody.of(
          "[%s] has %d bytes, allowed are %d for each of %s dimensions%s",
          at(0),
          length,
          elementType == ElementType.BYTE ? 1 : Float.BYTES,
          dims == null ? "its" : dims.toString(),
          elementType == null ? ", or 1 for a field of bytes" : "");
    }
    if (elementType != ElementType.FLOAT) {
      return QueryVectors.ofBytes(rows);
    }
    float[][] vectors = new float[rows.length][length / Float.BYTES];
    for (int i = 0; i < rows.length; i++) {
      floats(rows[i]).get(vectors[i]);
      requireFinite(vectors[i], i);
    }
    return QueryVectors.ofFloats(vectors);
  }

  private QueryVectors ofWhole(byte[] whole) {
    if (dims == null) {
      throw BadBody.of(
          "[dims] is missing, which is required if [%s] is one string", QueryVectorsParser.KEY);
    }
    boolean bytes = elementType == ElementType.BYTE;
    int length = bytes ? dims : dims * Float.BYTES;
    if (whole.length % length != 0) {
      throw BadBody.of(
          "[%s] has %d bytes, allowed is a multiple of %d, the bytes of a vector of %d dimensions",
          QueryVectorsParser.KEY, whole.length, length, dims);
    }
    int count = whole.length / length;
    if (count > maxVectors) {
      throw BadBody.of(
          "[%s] has %d vectors, allowed are 1 to %d", QueryVectorsParser.KEY, count, maxVectors);
    }
    if (bytes) {
      byte[][] vectors = new byte[count][];
      for (int i = 0; i < count; i++) {
        vectors[i] = Arrays.copyOfRange(whole, i * dims, (i + 1) * dims);
      }
      return QueryVectors.ofBytes(vectors);
    }
    float[][] vectors = new float[count][dims];
    FloatBuffer all = floats(whole);
    for (int i = 0; i < count; i++) {
      all.get(vectors[i]);
      requireFinite(vectors[i], i);
    }
    return QueryVectors.ofFloats(vectors);
  }

  private FloatBuffer floats(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(order).asFloatBuffer();
  }

  private static void requireFinite(float[] vector, int index) {
    for (int i = 0; i < vector.length; i++) {
      if (Float.isFinite(vector[i]) == false) {
        throw BadBody.of("[%s[%d]] is [%s], allowed are finite numbers", at(index), i, vector[i]);
      }
    }
  }

  private static String at(int index) {
    return QueryVectorsParser.KEY + "[" + index + "]";
  }
}
