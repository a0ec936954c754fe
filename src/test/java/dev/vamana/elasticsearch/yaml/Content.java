package dev.vamana.elasticsearch.yaml;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.xcontent.XContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.XContentType;

/** Text and bytes of the formats that a node reads and writes, to and from maps and lists. */
final class Content {
  private Content() {}

  /** All documents, one after the other; each is a map, a list or a scalar. */
  static List<Object> documents(XContentType type, byte[] bytes) throws IOException {
    List<Object> documents = new ArrayList<>();
    XContent format = type.xContent();
    try (XContentParser parser =
        format.createParser(XContentParserConfiguration.EMPTY, new ByteArrayInputStream(bytes))) {
      while (parser.nextToken() != null) {
        documents.add(value(parser));
      }
    }
    return documents;
  }

  /** All JSON documents of a text. */
  static List<Object> json(String text) throws IOException {
    return documents(XContentType.JSON, text.getBytes(StandardCharsets.UTF_8));
  }

  /** The value that begins at the parser's token; afterwards the token is its last. */
  static Object value(XContentParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> parser.mapOrdered();
      case START_ARRAY -> parser.listOrderedMap();
      case VALUE_STRING -> parser.text();
      case VALUE_NUMBER -> parser.numberValue();
      case VALUE_BOOLEAN -> parser.booleanValue();
      case VALUE_NULL -> null;
      default ->
          throw new IllegalArgumentException(
              "unexpected " + parser.currentToken() + " at line " + line(parser));
    };
  }

  static int line(XContentParser parser) {
    return parser.getTokenLocation().lineNumber();
  }

  /** An object in some format. */
  static byte[] bytes(XContentType type, Map<String, ?> object) throws IOException {
    try (XContentBuilder builder = XContentBuilder.builder(type.xContent())) {
      return BytesReference.toBytes(BytesReference.bytes(builder.map(object)));
    }
  }

  /** An object as JSON in one line. */
  static String json(Map<String, ?> object) throws IOException {
    return new String(bytes(XContentType.JSON, object), StandardCharsets.UTF_8);
  }

  /** A value that has to be an object, with keys that are text. */
  static Map<String, Object> object(Object value, String what) {
    if (value instanceof Map<?, ?> map) {
      @SuppressWarnings("unchecked")
      Map<String, Object> object = (Map<String, Object>) map;
      return object;
    }
    throw new IllegalArgumentException(what + " has to be an object, is [" + value + "]");
  }

  /** A value that has to be text. */
  static String text(Object value, String what) {
    if (value instanceof String text) {
      return text;
    }
    throw new IllegalArgumentException(what + " has to be text, is [" + value + "]");
  }

  /** A value that has to be text or a list of texts. */
  static List<String> texts(Object value, String what) {
    if (value instanceof List<?> list) {
      List<String> texts = new ArrayList<>();
      for (Object entry : list) {
        texts.add(text(entry, "each of " + what));
      }
      return texts;
    }
    return List.of(text(value, what));
  }
}
