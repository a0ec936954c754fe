package dev.vamana.elasticsearch.codebook.rest;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.train.IndexTrainings;
import java.io.IOException;
import org.elasticsearch.common.xcontent.XContentParserUtils;
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
    XContentParserUtils.ensureExpectedToken(
        XContentParser.Token.START_OBJECT, parser.nextToken(), parser);
    while (parser.nextToken() != XContentParser.Token.END_OBJECT) {
      String key = parser.currentName();
      XContentParser.Token token = parser.nextToken();
      switch (key) {
        case "index" -> index = text(parser, token);
        case "field" -> field = text(parser, token);
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

  private static String text(XContentParser parser, XContentParser.Token token) throws IOException {
    XContentParserUtils.ensureExpectedToken(XContentParser.Token.VALUE_STRING, token, parser);
    return parser.text();
  }

  private static int number(String key, XContentParser parser, XContentParser.Token token)
      throws IOException {
    XContentParserUtils.ensureExpectedToken(XContentParser.Token.VALUE_NUMBER, token, parser);
    if (parser.numberType() != XContentParser.NumberType.INT) {
      throw new IllegalArgumentException(
          "[" + key + "] must be a whole number, got [" + parser.text() + "]");
    }
    return parser.intValue();
  }
}
