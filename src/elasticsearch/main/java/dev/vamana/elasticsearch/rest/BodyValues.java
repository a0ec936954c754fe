package dev.vamana.elasticsearch.rest;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.index.query.BoolQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParser.NumberType;
import org.elasticsearch.xcontent.XContentParser.Token;

/**
 * Reads the values of a body. What does not fit is an {@link IllegalArgumentException} with key,
 * value and what is allowed.
 */
public final class BodyValues {

  private BodyValues() {}

  /** Reads the value of a key, at which the parser stands. */
  @FunctionalInterface
  public interface KeyReader {
    /** Reads the value. */
    void read(XContentParser parser) throws IOException;
  }

  /**
   * Reads a body that is an object.
   *
   * @param parser a parser positioned before the body
   * @param keys reads the value of each key that is allowed
   * @param seen receives the keys, each before its value is read
   * @throws IllegalArgumentException if the body is no object or ends early, or a key is unknown or
   *     repeated
   */
  public static void body(XContentParser parser, Map<String, KeyReader> keys, Set<String> seen)
      throws IOException {
    Token start = parser.nextToken();
    if (start != Token.START_OBJECT) {
      throw BadBody.of("the body is %s, allowed is an object", named(start));
    }
    members(parser, keys, seen);
    if (parser.currentToken() != Token.END_OBJECT) {
      throw BadBody.of("the body ends within its object");
    }
    Token trailing = parser.nextToken();
    if (trailing != null) {
      throw BadBody.of("the body has %s after its object", named(trailing));
    }
  }

  /** Reads the members of an object at whose start the parser stands. */
  public static void members(XContentParser parser, Map<String, KeyReader> keys, Set<String> seen)
      throws IOException {
    while (parser.nextToken() == Token.FIELD_NAME) {
      String key = parser.currentName();
      KeyReader reader = keys.get(key);
      if (reader == null) {
        throw BadBody.of("unknown key [%s], allowed are %s", BadBody.shown(key), keys.keySet());
      }
      if (seen.add(key) == false) {
        throw BadBody.of("the key [%s] appears twice", key);
      }
      parser.nextToken();
      reader.read(parser);
    }
  }

  /** A text that is not empty. */
  public static String string(XContentParser parser, String key, String allowed)
      throws IOException {
    if (parser.currentToken() != Token.VALUE_STRING) {
      throw BadBody.of("[%s] is %s, allowed is %s", key, shown(parser), allowed);
    }
    String text = parser.text();
    if (text.isEmpty()) {
      throw BadBody.of("[%s] is empty, allowed is %s", key, allowed);
    }
    return text;
  }

  /** A whole number from 1 to a limit. */
  public static int wholeNumber(XContentParser parser, String key, int max) throws IOException {
    boolean whole =
        parser.currentToken() == Token.VALUE_NUMBER
            && (parser.numberType() == NumberType.INT || parser.numberType() == NumberType.LONG);
    long value = whole ? parser.longValue() : 0;
    if (value < 1 || value > max) {
      throw BadBody.of(
          "[%s] is %s, allowed is a whole number from 1 to %d", key, shown(parser), max);
    }
    return (int) value;
  }

  /** A finite number in the range of a float. */
  public static float finite(XContentParser parser, String key) throws IOException {
    if (parser.currentToken() != Token.VALUE_NUMBER) {
      throw BadBody.of("[%s] is %s, allowed is a number", key, shown(parser));
    }
    float value = parser.floatValue();
    if (Float.isFinite(value) == false) {
      throw BadBody.of(
          "[%s] is [%s], allowed are finite numbers in the range of a float",
          key, BadBody.shown(parser.text()));
    }
    return value;
  }

  /** A boolean. */
  public static boolean flag(XContentParser parser, String key) throws IOException {
    if (parser.currentToken() != Token.VALUE_BOOLEAN) {
      throw BadBody.of("[%s] is %s, allowed is [true] or [false]", key, shown(parser));
    }
    return parser.booleanValue();
  }

  /** A query, or an array of queries that all must match; null for an empty array. */
  public static QueryBuilder query(XContentParser parser, String key) throws IOException {
    if (parser.currentToken() == Token.START_OBJECT) {
      return AbstractQueryBuilder.parseTopLevelQuery(parser);
    }
    if (parser.currentToken() != Token.START_ARRAY) {
      throw BadBody.of(
          "[%s] is %s, allowed is a query, or an array of queries that all must match",
          key, shown(parser));
    }
    BoolQueryBuilder all = new BoolQueryBuilder();
    for (Token token = parser.nextToken(); token != Token.END_ARRAY; token = parser.nextToken()) {
      if (token != Token.START_OBJECT) {
        throw BadBody.of(
            "[%s[%d]] is %s, allowed is a query", key, all.filter().size(), shown(parser));
      }
      all.filter(AbstractQueryBuilder.parseTopLevelQuery(parser));
    }
    return all.filter().isEmpty() ? null : all;
  }

  /** The value at which the parser stands, for a message. */
  public static String shown(XContentParser parser) throws IOException {
    Token token = parser.currentToken();
    return token != null && token.isValue() && token != Token.VALUE_EMBEDDED_OBJECT
        ? "[" + BadBody.shown(parser.text()) + "]"
        : named(token);
  }

  /** Returns a name with an article, such as "an object"; "missing" for the end of the body. */
  private static String named(Token token) {
    if (token == null) {
      return "missing";
    }
    return switch (token) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> "a string";
      case VALUE_NUMBER -> "a number";
      case VALUE_BOOLEAN -> "a boolean";
      case VALUE_NULL -> "null";
      case VALUE_EMBEDDED_OBJECT -> "a binary value";
      case FIELD_NAME, END_OBJECT, END_ARRAY -> "missing";
    };
  }
}
