package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.BatchSearchRequest;
import java.io.IOException;
import org.apache.lucene.util.BytesRef;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.XContentType;

/**
 * The settings of a search from the path and the parameters of an HTTP request. A body of lines has
 * one search per line, all with the same settings.
 *
 * @param columnar whether hits are written as columns unless the body asks for hits
 * @param bodies format of the bodies
 * @param parsing configuration of the bodies' parser
 */
record RequestTemplate(
    String[] indices,
    IndicesOptions indicesOptions,
    String routing,
    String preference,
    TimeValue timeout,
    Boolean allowPartialSearchResults,
    Integer maxConcurrentShardRequests,
    boolean columnar,
    XContentType bodies,
    XContentParserConfiguration parsing) {

  /** Parameter for the form of the hits, or for the format of the answer, as in all requests. */
  static final String FORMAT = "format";

  /**
   * Reads path and parameters.
   *
   * @throws IllegalArgumentException if a parameter is malformed
   */
  static RequestTemplate of(RestRequest request) {
    return new RequestTemplate(
        Strings.splitStringByCommaToArray(request.param("index")),
        IndicesOptions.fromRequest(request, SearchRequest.DEFAULT_INDICES_OPTIONS),
        request.param("routing"),
        request.param("preference"),
        request.paramAsTime("timeout", null),
        request.paramAsBoolean("allow_partial_search_results", null),
        request.paramAsInteger("max_concurrent_shard_requests", null),
        columnar(request.param(FORMAT)),
        request.getXContentType(),
        request.contentParserConfig());
  }

  /**
   * Reads the parameter. The server also reads it, as the format of the answer, so its values are
   * valid.
   */
  private static boolean columnar(String format) {
    if (format == null || format.equals(BatchBodyParser.HITS)) {
      return false;
    }
    if (format.equals(BatchBodyParser.COLUMNS)) {
      return true;
    }
    if (XContentType.fromFormat(format) == null) {
      throw BadBody.of(
          "[%s] is [%s], allowed are [hits] and [columns], and [json], [yaml], [cbor] and [smile]",
          FORMAT, BadBody.shown(format));
    }
    return false;
  }

  /**
   * Makes a search.
   *
   * @param body body of the search
   * @throws IllegalArgumentException if the body is invalid
   */
  BatchSearchRequest request(BytesReference body) throws IOException {
    // as one array, because a parser of a stream copies every string
    BytesRef whole = body.toBytesRef();
    WholeVectors apart =
        bodies.canonical() == XContentType.JSON
            ? WholeVectors.of(whole.bytes, whole.offset, whole.length)
            : null;
    if (apart != null) {
      try {
        return request(new BytesRef(apart.rest()), apart.vectors());
      } catch (IOException | RuntimeException e) {
        // the whole body has the same mistake, and gives a message with the right positions
        return request(whole, null);
      }
    }
    return request(whole, null);
  }

  /**
   * Makes a search.
   *
   * @param body body of the search
   * @param vectors the decoded vectors if the body has an empty string in their place, or null
   */
  private BatchSearchRequest request(BytesRef body, byte[] vectors) throws IOException {
    BatchSearchRequest request =
        new BatchSearchRequest(indices)
            .indicesOptions(indicesOptions)
            .routing(routing)
            .preference(preference)
            .timeout(timeout)
            .allowPartialSearchResults(allowPartialSearchResults)
            .maxConcurrentShardRequests(maxConcurrentShardRequests)
            .columnar(columnar);
    try (XContentParser parser =
        bodies.xContent().createParser(parsing, body.bytes, body.offset, body.length)) {
      BatchBodyParser.parse(parser, request, vectors);
    } catch (IOException | RuntimeException e) {
      // the parsers of binary formats throw various exceptions for malformed input
      if (ExceptionsHelper.status(e).getStatus() >= RestStatus.INTERNAL_SERVER_ERROR.getStatus()) {
        throw new IllegalArgumentException("the body cannot be read: " + e, e);
      }
      throw e;
    }
    return request;
  }
}
