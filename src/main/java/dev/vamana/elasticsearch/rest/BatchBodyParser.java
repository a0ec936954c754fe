package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.BatchSearchRequest;
import dev.vamana.search.WalkChange;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.search.fetch.subphase.FetchSourceContext;
import org.elasticsearch.search.fetch.subphase.FieldAndFormat;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParser.Token;

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
  private QueryVectorsParser.Parsed vectors;
  private Integer dims;
  private TypedVectors.ElementType elementType;
  private ByteOrder byteOrder;
  private boolean filterForEach;
  private int beamWidth;
  private int parents;
  private int rerankDepth;

  private BatchBodyParser(BatchSearchRequest request, byte[] whole) {
    this.request = request;
    keys.put(
        "field", parser -> request.field(BodyValues.string(parser, "field", "a field's name")));
    keys.put(
        QueryVectorsParser.KEY,
        parser ->
            vectors =
                whole == null
                    ? new QueryVectorsParser(parser, MAX_VECTORS, MAX_DIMS).parse()
                    : new QueryVectorsParser.Parsed(null, null, whole));
    keys.put("dims", parser -> dims = BodyValues.wholeNumber(parser, "dims", MAX_DIMS));
    keys.put("element_type", this::readElementType);
    keys.put("byte_order", this::readByteOrder);
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
   * @param parser a parser positioned before the body
   * @param request receives the values
   * @param whole the decoded vectors if the body has an empty string in their place, or null
   * @throws IllegalArgumentException if the body is malformed, a key is unknown or repeated, or a
   *     value has the wrong type or is out of range; the message has key, value and range
   */
  static void parse(XContentParser parser, BatchSearchRequest request, byte[] whole)
      throws IOException {
    new BatchBodyParser(request, whole).read(parser);
  }

  private void read(XContentParser parser) throws IOException {
    BodyValues.body(parser, keys, seen);
    check();
  }

  private void check() {
    if (request.field() == null) {
      throw BadBody.of("[field] is missing, allowed is the name of a dense_vector field");
    }
    if (vectors == null) {
      throw BadBody.of(
          "[%s] is missing, allowed are 1 to %d vectors", QueryVectorsParser.KEY, MAX_VECTORS);
    }
    if (byteOrder != null && elementType == TypedVectors.ElementType.BYTE) {
      throw BadBody.of(
          "[byte_order] is the order of the bytes of a float, allowed is [element_type] [float],"
              + " which is [byte]");
    }
    TypedVectors typed =
        byteOrder == null
            ? new TypedVectors(elementType, ByteOrder.BIG_ENDIAN, dims, MAX_VECTORS)
            : new TypedVectors(TypedVectors.ElementType.FLOAT, byteOrder, dims, MAX_VECTORS);
    request.vectors(typed.of(vectors));
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

  private void readElementType(XContentParser parser) throws IOException {
    String allowed = "[float] or [byte]";
    String text = BodyValues.string(parser, "element_type", allowed);
    elementType =
        switch (text) {
          case "float" -> TypedVectors.ElementType.FLOAT;
          case "byte" -> TypedVectors.ElementType.BYTE;
          default ->
              throw BadBody.of(
                  "[element_type] is [%s], allowed is %s", BadBody.shown(text), allowed);
        };
  }

  private void readByteOrder(XContentParser parser) throws IOException {
    String allowed = "[big_endian] or [little_endian]";
    String text = BodyValues.string(parser, "byte_order", allowed);
    byteOrder =
        switch (text) {
          case "big_endian" -> ByteOrder.BIG_ENDIAN;
          case "little_endian" -> ByteOrder.LITTLE_ENDIAN;
          default ->
              throw BadBody.of("[byte_order] is [%s], allowed is %s", BadBody.shown(text), allowed);
        };
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
