package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.BatchSearchRequest;
import dev.vamana.search.WalkChange;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.lucene.util.BytesRef;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.fetch.subphase.FetchSourceContext;
import org.elasticsearch.search.fetch.subphase.FieldAndFormat;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParser.Token;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.XContentType;

/** Parses the body of a batched search; docs/operators/batched-search.md documents its keys. */
final class BatchBodyParser {
  /** Most dimensions of a {@code dense_vector}. */
  static final int MAX_DIMS = 4096;

  /** The value of {@code format} for standard hits. */
  static final String HITS = "hits";

  /** The value of {@code format} for columns. */
  static final String COLUMNS = "columns";

  private static final int MAX_VECTORS = BatchSearchRequest.MAX_VECTORS;
  private static final int MAX_CANDIDATES = BatchSearchRequest.MAX_NUM_CANDIDATES;

  private final Map<String, BodyValues.KeyReader> keys = new LinkedHashMap<>();
  private final TreeSet<String> seen = new TreeSet<>();
  private final BatchSearchRequest request;
  private boolean filterForEach;
  private int beamWidth;
  private int parents;
  private int rerankDepth;

  private BatchBodyParser(BatchSearchRequest request) {
    this.request = request;
    keys.put(
        "field", parser -> request.field(BodyValues.string(parser, "field", "a field's name")));
    keys.put(
        QueryVectorsParser.KEY,
        parser -> request.vectors(new QueryVectorsParser(parser, MAX_VECTORS, MAX_DIMS).parse()));
    keys.put("k", parser -> request.k(BodyValues.wholeNumber(parser, "k", MAX_CANDIDATES)));
    keys.put(
        "num_candidates",
        parser ->
            request.numCandidates(
                BodyValues.wholeNumber(parser, "num_candidates", MAX_CANDIDATES)));
    keys.put(
        "beam_width",
        parser ->
            beamWidth =
                BodyValues.wholeNumber(parser, "beam_width", WalkParameters.MAX_BEAM_WIDTH));
    keys.put(
        "parents",
        parser -> parents = BodyValues.wholeNumber(parser, "parents", WalkParameters.MAX_PARENTS));
    keys.put(
        "rerank_depth",
        parser ->
            rerankDepth =
                BodyValues.wholeNumber(parser, "rerank_depth", WalkParameters.MAX_BEAM_WIDTH));
    keys.put("similarity", parser -> request.similarity(BodyValues.finite(parser, "similarity")));
    keys.put("filter", this::readFilter);
    keys.put("filters", this::readFilters);
    keys.put("_source", this::readSource);
    keys.put("fields", this::readFields);
    keys.put("format", this::readFormat);
    keys.put("profile", parser -> request.profile(BodyValues.flag(parser, "profile")));
  }

  /**
   * Parses a body into a request.
   *
   * @param request receives the values
   * @throws IllegalArgumentException if the body is malformed, a key is unknown or repeated, or a
   *     value has the wrong type or is out of range; the message has key, value and range
   */
  static void parse(
      BytesReference body,
      XContentType type,
      XContentParserConfiguration parsing,
      BatchSearchRequest request)
      throws IOException {
    // as one array, because a parser of a stream copies every string
    BytesRef whole = body.toBytesRef();
    try (XContentParser parser =
        type.xContent().createParser(parsing, whole.bytes, whole.offset, whole.length)) {
      BatchBodyParser values = new BatchBodyParser(request);
      BodyValues.body(parser, values.keys, values.seen);
      values.check();
    } catch (IOException | RuntimeException e) {
      // the parsers of binary formats throw various exceptions for malformed input
      if (ExceptionsHelper.status(e).getStatus() >= RestStatus.INTERNAL_SERVER_ERROR.getStatus()) {
        throw new IllegalArgumentException("the body cannot be read: " + e, e);
      }
      throw e;
    }
  }

  private void check() {
    if (request.field() == null) {
      throw BadBody.of("[field] is missing, allowed is the name of a dense_vector field");
    }
    if (request.vectors() == null) {
      throw BadBody.of(
          "[%s] is missing, allowed are 1 to %d vectors", QueryVectorsParser.KEY, MAX_VECTORS);
    }
    request.walk(new WalkChange(beamWidth, parents, rerankDepth));
    int count = request.vectors().count();
    if (filterForEach && request.filters().size() != count) {
      throw BadBody.of(
          "[filters] has %d entries, allowed is one for each of the %d vectors",
          request.filters().size(), count);
    }
    if (request.k() > request.numCandidates()) {
      throw BadBody.of(
          "[k] is [%d], allowed is at most [num_candidates], which is [%d]",
          request.k(), request.numCandidates());
    }
  }

  private void readFilter(XContentParser parser) throws IOException {
    requireOneKindOfFilter("filters");
    QueryBuilder all = BodyValues.query(parser, "filter");
    request.filters(all == null ? List.of() : List.of(all));
  }

  private void readFilters(XContentParser parser) throws IOException {
    requireOneKindOfFilter("filter");
    if (parser.currentToken() != Token.START_ARRAY) {
      throw BadBody.of(
          "[filters] is %s, allowed is an array of queries, one (or null) for each vector",
          BodyValues.shown(parser));
    }
    filterForEach = true;
    List<QueryBuilder> filters = new ArrayList<>();
    for (Token token = parser.nextToken(); token != Token.END_ARRAY; token = parser.nextToken()) {
      if (filters.size() == MAX_VECTORS) {
        throw BadBody.of(
            "[filters] has more than %d entries, allowed is one for each vector", MAX_VECTORS);
      }
      if (token == Token.VALUE_NULL) {
        filters.add(null);
      } else if (token == Token.START_OBJECT) {
        filters.add(AbstractQueryBuilder.parseTopLevelQuery(parser));
      } else {
        throw BadBody.of(
            "[filters[%d]] is %s, allowed is a query or null",
            filters.size(), BodyValues.shown(parser));
      }
    }
    request.filters(filters);
  }

  private void requireOneKindOfFilter(String other) {
    if (seen.contains(other)) {
      throw BadBody.of("both [filter] and [filters] are given, allowed is one of them");
    }
  }

  private void readSource(XContentParser parser) throws IOException {
    Token token = parser.currentToken();
    if (token == Token.VALUE_NUMBER || token == Token.VALUE_NULL) {
      throw BadBody.of(
          "[_source] is %s, allowed are a boolean, a pattern, an array of patterns, and an object of"
              + " includes and excludes",
          BodyValues.shown(parser));
    }
    request.source(FetchSourceContext.fromXContent(parser));
  }

  private void readFields(XContentParser parser) throws IOException {
    List<FieldAndFormat> fields = new ArrayList<>();
    if (parser.currentToken() != Token.START_ARRAY) {
      throw BadBody.of("[fields] is %s, allowed is an array of fields", BodyValues.shown(parser));
    }
    while (parser.nextToken() != Token.END_ARRAY) {
      Token token = parser.currentToken();
      if (token != Token.VALUE_STRING && token != Token.START_OBJECT) {
        throw BadBody.of(
            "[fields[%d]] is %s, allowed is a field's name or an object",
            fields.size(), BodyValues.shown(parser));
      }
      fields.add(FieldAndFormat.fromXContent(parser));
    }
    request.fields(fields);
  }

  private void readFormat(XContentParser parser) throws IOException {
    String allowed = "[" + HITS + "] or [" + COLUMNS + "]";
    String text = BodyValues.string(parser, "format", allowed);
    if (text.equals(HITS) == false && text.equals(COLUMNS) == false) {
      throw BadBody.of("[format] is [%s], allowed is %s", BadBody.shown(text), allowed);
    }
    request.columnar(text.equals(COLUMNS));
  }
}
