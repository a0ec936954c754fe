package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.neighbors.NeighborsRequest;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParser.Token;

/** Parses the body of a request for neighbours; docs/operators/neighbors.md documents its keys. */
final class NeighborsBody {

  private static final String WALK = "walk";
  private static final String EXACT = "exact";
  private static final String FIELD = "a field's name";

  private String field;
  private int k = 10;
  private Integer numCandidates;
  private boolean exact;
  private Float similarity;
  private QueryBuilder query;
  private QueryBuilder filter;
  private String destIndex;
  private String destField = "neighbors";
  private int batchSize = NeighborsRequest.DEFAULT_BATCH_SIZE;
  private Integer slices;
  private boolean resume;

  private NeighborsBody() {}

  /**
   * Parses a body.
   *
   * @param parser a parser positioned before the body
   * @throws IllegalArgumentException if the body is malformed, a key is unknown, repeated or
   *     missing, or a value has the wrong type or is out of range; the message has key, value and
   *     range
   */
  static NeighborsRequest.Options parse(XContentParser parser) throws IOException {
    return new NeighborsBody().read(parser);
  }

  private NeighborsRequest.Options read(XContentParser parser) throws IOException {
    int most = NeighborsRequest.MAX;
    Map<String, BodyValues.KeyReader> keys = new LinkedHashMap<>();
    keys.put("field", at -> field = BodyValues.string(at, "field", FIELD));
    keys.put("k", at -> k = BodyValues.wholeNumber(at, "k", NeighborsRequest.MAX_K));
    keys.put(
        "num_candidates", at -> numCandidates = BodyValues.wholeNumber(at, "num_candidates", most));
    keys.put("method", at -> exact = isExact(at));
    keys.put("similarity", at -> similarity = BodyValues.finite(at, "similarity"));
    keys.put("query", at -> query = BodyValues.query(at, "query"));
    keys.put("filter", at -> filter = BodyValues.query(at, "filter"));
    keys.put("dest", this::readDest);
    keys.put("batch_size", at -> batchSize = BodyValues.wholeNumber(at, "batch_size", most));
    keys.put(
        "slices", at -> slices = BodyValues.wholeNumber(at, "slices", NeighborsRequest.MAX_SLICES));
    keys.put("resume", at -> resume = BodyValues.flag(at, "resume"));
    BodyValues.body(parser, keys, new TreeSet<>());
    if (field == null) {
      throw BadBody.of("[field] is missing, allowed is the name of a dense_vector field");
    }
    if (destIndex == null) {
      throw BadBody.of("[dest.index] is missing, allowed is the name of an index to write to");
    }
    if (numCandidates != null && exact) {
      throw BadBody.of(
          "[num_candidates] is [%d], but [method] is [%s], allowed is [num_candidates] with [%s]",
          numCandidates, EXACT, WALK);
    }
    if (numCandidates != null && numCandidates < k) {
      throw BadBody.of(
          "[num_candidates] is [%d], allowed is a whole number from [k], which is %d, to %d",
          numCandidates, k, most);
    }
    return new NeighborsRequest.Options(
        field,
        k,
        numCandidates,
        exact,
        similarity,
        query,
        filter,
        destIndex,
        destField,
        batchSize,
        slices,
        resume);
  }

  private static boolean isExact(XContentParser parser) throws IOException {
    String allowed = "[" + WALK + "] or [" + EXACT + "]";
    String method = BodyValues.string(parser, "method", allowed);
    if (method.equals(WALK) == false && method.equals(EXACT) == false) {
      throw BadBody.of("[method] is [%s], allowed is %s", BadBody.shown(method), allowed);
    }
    return method.equals(EXACT);
  }

  private void readDest(XContentParser parser) throws IOException {
    if (parser.currentToken() != Token.START_OBJECT) {
      throw BadBody.of("[dest] is %s, allowed is an object with [index]", BodyValues.shown(parser));
    }
    Map<String, BodyValues.KeyReader> keys = new LinkedHashMap<>();
    keys.put("index", at -> destIndex = BodyValues.string(at, "dest.index", "an index's name"));
    keys.put("field", at -> destField = BodyValues.string(at, "dest.field", FIELD));
    BodyValues.members(parser, keys, new TreeSet<>());
  }
}
