package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.BatchSearchRequest;
import dev.vamana.elasticsearch.search.BatchSearchResponse;
import dev.vamana.elasticsearch.search.TransportBatchSearchAction;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.bytes.ReleasableBytesReference;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestRefCountedChunkedToXContentListener;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.xcontent.XContentType;

/**
 * {@code POST /{index}/_vamana/search}, also by GET and for all indices: one search of many
 * vectors. Closing the connection cancels the search.
 */
public final class RestBatchSearchAction extends BaseRestHandler {

  /** Bodies with more bytes are parsed by another thread than the one that serves connections. */
  private static final int LONG_BODY = 64 * 1024;

  /** Parameter for the form of the hits, or for the format of the answer, as in all requests. */
  private static final String FORMAT = "format";

  @Override
  public String getName() {
    return "vamana_search";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        new Route(RestRequest.Method.POST, "/{index}/_vamana/search"),
        new Route(RestRequest.Method.GET, "/{index}/_vamana/search"),
        new Route(RestRequest.Method.POST, "/_vamana/search"),
        new Route(RestRequest.Method.GET, "/_vamana/search"));
  }

  /** Declares the parameter {@code format}, which the channel reads as well. */
  @Override
  protected Set<String> responseParams() {
    return Set.of(FORMAT);
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    BatchSearchRequest search =
        new BatchSearchRequest(Strings.splitStringByCommaToArray(request.param("index")))
            .indicesOptions(
                IndicesOptions.fromRequest(request, SearchRequest.DEFAULT_INDICES_OPTIONS))
            .routing(request.param("routing"))
            .preference(request.param("preference"))
            .timeout(request.paramAsTime("timeout", null))
            .allowPartialSearchResults(request.paramAsBoolean("allow_partial_search_results", null))
            .maxConcurrentShardRequests(
                request.paramAsInteger("max_concurrent_shard_requests", null))
            .columnar(columnar(request.param(FORMAT)));
    ReleasableBytesReference body = request.requiredContent();
    return channel -> {
      Client cancelling = new RestCancellableNodeClient(client, request.getHttpChannel());
      Executor executor =
          body.length() > LONG_BODY
              ? client.threadPool().executor(ThreadPool.Names.SEARCH_COORDINATION)
              : EsExecutors.DIRECT_EXECUTOR_SERVICE;
      ReleasableBytesReference kept = body.retain();
      executor.execute(
          ActionRunnable.wrapReleasing(
              answer(channel),
              kept,
              whole -> {
                BatchBodyParser.parse(
                    kept, request.getXContentType(), request.contentParserConfig(), search);
                cancelling.execute(TransportBatchSearchAction.TYPE, search, whole);
              }));
    };
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

  private static ActionListener<BatchSearchResponse> answer(RestChannel channel) {
    return new RestRefCountedChunkedToXContentListener<>(channel) {
      @Override
      protected RestStatus getRestStatus(BatchSearchResponse response) {
        return response.status();
      }
    };
  }
}
