package dev.vamana.elasticsearch.rest;

import org.elasticsearch.xcontent.XContentParser.Token;

/** Names the kinds of values in a body for messages. */
final class Tokens {
  private Tokens() {}

  /** Returns a name with an article, such as "an object"; "missing" for the end of the body. */
  static String named(Token token) {
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
