package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.BatchSearchRequest;
import dev.vamana.elasticsearch.search.BatchSearchResponse;
import dev.vamana.elasticsearch.search.TransportBatchSearchAction;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Executor;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.bytes.ReleasableBytesReference;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestRefCountedChunkedToXContentListener;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * {@code POST /{index}/_vamana/search}, also by GET and for all indices: one search of many
 * vectors, or one search per line if the body has lines. Closing the connection cancels the
 * searches.
 */
public final class RestBatchSearchAction extends BaseRestHandler {

  /** Bodies with more bytes are parsed by another thread than the one that serves connections. */
  private static final int LONG_BODY = 64 * 1024;

  /** Media type of lines of JSON. */
  static final String LINES = "application/x-ndjson";

  private static final String VENDORS_LINES = "application/vnd.elasticsearch+x-ndjson";

  private final BodyLimit limit;

  /** Makes a handler that rejects bodies above a limit. */
  public RestBatchSearchAction(BodyLimit limit) {
    this.limit = limit;
  }

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
    return Set.of(RequestTemplate.FORMAT);
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    RequestTemplate template = RequestTemplate.of(request);
    boolean lines = isLines(request);
    ReleasableBytesReference body = request.requiredContent();
    limit.check(body.length());
    return channel -> {
      Client cancelling = new RestCancellableNodeClient(client, request.getHttpChannel());
      ActionListener<BatchSearchResponse> answer = answer(channel);
      ReleasableBytesReference kept = body.retain();
      if (lines) {
        LinesAnswer.send(channel, new SearchLines(cancelling, template, kept), answer);
        return;
      }
      Executor executor =
          body.length() > LONG_BODY
              ? client.threadPool().executor(ThreadPool.Names.SEARCH_COORDINATION)
              : EsExecutors.DIRECT_EXECUTOR_SERVICE;
      executor.execute(
          ActionRunnable.wrapReleasing(
              answer,
              kept,
              whole -> {
                BatchSearchRequest search = template.request(kept);
                cancelling.execute(TransportBatchSearchAction.TYPE, search, whole);
              }));
    };
  }

  private static boolean isLines(RestRequest request) {
    if (request.getParsedContentType() == null) {
      return false;
    }
    String type =
        request.getParsedContentType().mediaTypeWithoutParameters().toLowerCase(Locale.ROOT);
    return type.equals(LINES) || type.equals(VENDORS_LINES);
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
