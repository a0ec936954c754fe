package dev.vamana.elasticsearch.codebook.rest;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.train.IndexTrainings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.xcontent.XContentParser;

/** Parses the body of a request to train a codebook. */
final class TrainBody {
  private TrainBody() {}

  static IndexTrainings.Source read(XContentParser parser) throws IOException {
    String index = null;
    String field = null;
    QueryBuilder query = null;
    int sampleSize = SampleOptions.DEFAULT_SAMPLE_SIZE;
    int subspaces = 0;
    XContentParser.Token first = parser.nextToken();
    if (first != XContentParser.Token.START_OBJECT) {
      throw new IllegalArgumentException(
          "the body must be an object, got " + described(parser, first));
    }
    while (parser.nextToken() != XContentParser.Token.END_OBJECT) {
      String key = parser.currentName();
      XContentParser.Token token = parser.nextToken();
      switch (key) {
        case "index" -> index = indices(parser, token);
        case "field" -> field = text(key, parser, token);
        case "query" -> query = AbstractQueryBuilder.parseTopLevelQuery(parser);
        case "sample_size" -> sampleSize = number(key, parser, token);
        case "subspaces" -> subspaces = number(key, parser, token);
        default ->
            throw new IllegalArgumentException(
                "unknown [" + key + "], known are [index, field, query, sample_size, subspaces]");
      }
    }
    return new IndexTrainings.Source(index, field, query, sampleSize, subspaces);
  }

  /** A text, or several in an array, which are joined by commas. */
  private static String indices(XContentParser parser, XContentParser.Token token)
      throws IOException {
    if (token != XContentParser.Token.START_ARRAY) {
      return text("index", parser, token);
    }
    List<String> names = new ArrayList<>();
    while (parser.nextToken() != XContentParser.Token.END_ARRAY) {
      names.add(text("index", parser, parser.currentToken()));
    }
    return String.join(",", names);
  }

  private static String text(String key, XContentParser parser, XContentParser.Token token)
      throws IOException {
    if (token != XContentParser.Token.VALUE_STRING) {
      throw wrong(key, "text", parser, token);
    }
    return parser.text();
  }

  private static IllegalArgumentException wrong(
      String key, String expected, XContentParser parser, XContentParser.Token token)
      throws IOException {
    return new IllegalArgumentException(
        "[" + key + "] must be " + expected + ", got " + described(parser, token));
  }

  private static String described(XContentParser parser, XContentParser.Token token)
      throws IOException {
    return switch (token) {
      case null -> "nothing";
      case START_ARRAY -> "an array";
      case START_OBJECT -> "an object";
      default -> "[" + parser.textOrNull() + "]";
    };
  }

  private static int number(String key, XContentParser parser, XContentParser.Token token)
      throws IOException {
    if (token != XContentParser.Token.VALUE_NUMBER
        || parser.numberType() != XContentParser.NumberType.INT) {
      throw wrong(key, "a whole number", parser, token);
    }
    return parser.intValue();
  }
}
