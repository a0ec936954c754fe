package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.QueryVectors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParser.Token;
import org.elasticsearch.xcontent.XContentString;

/**
 * Parses {@code query_vectors}: an array of arrays of numbers, or an array of base64 strings.
 * Formats with binary values (CBOR, SMILE) may have those instead of base64. Numbers are parsed
 * directly into arrays. Bytes are not interpreted here, because only the shards know the type of
 * the field.
 */
final class QueryVectorsParser {
  /** The key in the body. */
  static final String KEY = "query_vectors";

  private static final String ALLOWED =
      "an array of arrays of numbers, or an array of base64 strings";

  private final XContentParser parser;
  private final int maxVectors;
  private final int maxDims;

  /**
   * Makes a parser of the key's value.
   *
   * @param parser a parser positioned at the value
   * @param maxVectors most vectors to accept
   * @param maxDims most components per vector to accept
   */
  QueryVectorsParser(XContentParser parser, int maxVectors, int maxDims) {
    this.parser = parser;
    this.maxVectors = maxVectors;
    this.maxDims = maxDims;
  }

  /**
   * Parses the value.
   *
   * @throws IllegalArgumentException if the value has none of the forms, a vector is empty, too
   *     long or not of the first vector's length, a number is not finite as a float, or the number
   *     of vectors is 0 or too large; the message has the vector's position in the body
   */
  QueryVectors parse() throws IOException {
    if (parser.currentToken() != Token.START_ARRAY) {
      throw BadBody.of("[%s] is %s, allowed is %s", KEY, BodyValues.shown(parser), ALLOWED);
    }
    Token token = parser.nextToken();
    if (token == Token.END_ARRAY) {
      throw BadBody.of("[%s] is empty, allowed are 1 to %d vectors", KEY, maxVectors);
    }
    if (token == Token.START_ARRAY) {
      return QueryVectors.ofFloats(numbers());
    }
    if (isBytes(token)) {
      return QueryVectors.ofBytes(rows());
    }
    throw BadBody.of("[%s] is %s, allowed is %s", at(0), BodyValues.shown(parser), ALLOWED);
  }

  private float[][] numbers() throws IOException {
    float[][] vectors = new float[Math.min(16, maxVectors)][];
    int count = 0;
    for (Token token = parser.currentToken();
        token != Token.END_ARRAY;
        token = parser.nextToken()) {
      if (token != Token.START_ARRAY) {
        throw BadBody.of(
            "[%s] is %s, allowed is an array of numbers like [%s]",
            at(count), BodyValues.shown(parser), at(0));
      }
      checkCount(count);
      if (count == vectors.length) {
        vectors = Arrays.copyOf(vectors, Math.min(maxVectors, 2 * count));
      }
      vectors[count] = vector(count, count == 0 ? maxDims : vectors[0].length);
      count++;
    }
    return Arrays.copyOf(vectors, count);
  }

  /**
   * Reads a vector.
   *
   * @param most most dimensions of the first vector; for later vectors its number of dimensions
   */
  private float[] vector(int index, int most) throws IOException {
    float[] vector = new float[index == 0 ? Math.min(128, most) : most];
    int dims = 0;
    for (Token token = parser.nextToken(); token != Token.END_ARRAY; token = parser.nextToken()) {
      if (dims == most) {
        throw BadBody.of(
            "[%s] has more than %d dimensions, %s",
            at(index), most, index == 0 ? "the most allowed" : "those of [" + at(0) + "]");
      }
      if (dims == vector.length) {
        vector = Arrays.copyOf(vector, Math.min(most, 2 * dims));
      }
      vector[dims] = component(token, index, dims);
      dims++;
    }
    if (index > 0 && dims < most) {
      throw BadBody.of("[%s] has %d dimensions, but [%s] has %d", at(index), dims, at(0), most);
    }
    if (dims == 0) {
      throw BadBody.of("[%s] is empty, allowed are 1 to %d dimensions", at(0), maxDims);
    }
    return dims == vector.length ? vector : Arrays.copyOf(vector, dims);
  }

  private float component(Token token, int index, int dimension) throws IOException {
    if (token != Token.VALUE_NUMBER) {
      throw BadBody.of(
          "[%s[%d]] is %s, allowed are numbers", at(index), dimension, BodyValues.shown(parser));
    }
    float value = parser.floatValue();
    if (Float.isFinite(value) == false) {
      throw BadBody.of(
          "[%s[%d]] is [%s], allowed are finite numbers in the range of a float",
          at(index), dimension, BadBody.shown(parser.text()));
    }
    return value;
  }

  private byte[][] rows() throws IOException {
    byte[][] rows = new byte[Math.min(16, maxVectors)][];
    int count = 0;
    for (Token token = parser.currentToken();
        token != Token.END_ARRAY;
        token = parser.nextToken()) {
      if (isBytes(token) == false) {
        throw BadBody.of(
            "[%s] is %s, allowed is a base64 string like [%s]",
            at(count), BodyValues.shown(parser), at(0));
      }
      checkCount(count);
      if (count == rows.length) {
        rows = Arrays.copyOf(rows, Math.min(maxVectors, 2 * count));
      }
      rows[count] = bytes(count);
      if (rows[count].length != rows[0].length) {
        throw BadBody.of(
            "[%s] has %d bytes, but [%s] has %d",
            at(count), rows[count].length, at(0), rows[0].length);
      }
      count++;
    }
    return Arrays.copyOf(rows, count);
  }

  private byte[] bytes(int index) throws IOException {
    byte[] bytes =
        parser.currentToken() == Token.VALUE_EMBEDDED_OBJECT
            ? parser.binaryValue()
            : base64(parser.optimizedText().bytes(), index);
    if (bytes.length == 0) {
      throw BadBody.of("[%s] is empty, allowed is a vector's bytes in base64", at(index));
    }
    return bytes;
  }

  private static byte[] base64(XContentString.UTF8Bytes text, int index) {
    ByteBuffer decoded;
    try {
      decoded =
          Base64.getDecoder().decode(ByteBuffer.wrap(text.bytes(), text.offset(), text.length()));
    } catch (IllegalArgumentException e) {
      String shown = BadBody.shown(text.bytes(), text.offset(), text.length());
      throw BadBody.of("[%s] is [%s], which is not base64: %s", at(index), shown, e.getMessage());
    }
    byte[] bytes = decoded.array();
    return bytes.length == decoded.limit() ? bytes : Arrays.copyOf(bytes, decoded.limit());
  }

  private void checkCount(int count) {
    if (count == maxVectors) {
      throw BadBody.of("[%s] has more than %d vectors, allowed are 1 to %d", KEY, count, count);
    }
  }

  private static boolean isBytes(Token token) {
    return token == Token.VALUE_STRING || token == Token.VALUE_EMBEDDED_OBJECT;
  }

  private static String at(int index) {
    return KEY + "[" + index + "]";
  }
}
