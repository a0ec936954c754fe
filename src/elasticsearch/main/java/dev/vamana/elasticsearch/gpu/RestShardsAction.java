package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.monitor.ShardsRequest;
import java.util.List;
import java.util.function.Function;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.action.support.broadcast.BroadcastResponse;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestToXContentListener;

/**
 * {@code POST /{index}/_vamana/NAME}, also for all indices. Closing the connection cancels the
 * request.
 */
class RestShardsAction<Q extends ShardsRequest<Q>, R extends BroadcastResponse>
    extends BaseRestHandler {

  private final String name;
  private final ActionType<R> type;
  private final Function<String[], Q> requests;

  /**
   * Makes a handler.
   *
   * @param name last part of the path
   * @param type the transport action
   * @param requests makes a request for some indices
   */
  RestShardsAction(String name, ActionType<R> type, Function<String[], Q> requests) {
    this.name = name;
    this.type = type;
    this.requests = requests;
  }

  @Override
  public final String getName() {
    return "vamana_" + name;
  }

  @Override
  public final List<Route> routes() {
    return List.of(
        new Route(RestRequest.Method.POST, "/{index}/_vamana/" + name),
        new Route(RestRequest.Method.POST, "/_vamana/" + name));
  }

  /** Reads the parameters that only this action has. */
  void readParameters(RestRequest http, Q request) {}

  @Override
  protected final RestChannelConsumer prepareRequest(RestRequest http, NodeClient client) {
    Q request = requests.apply(Strings.splitStringByCommaToArray(http.param("index")));
    request.indicesOptions(IndicesOptions.fromRequest(http, request.indicesOptions()));
    readParameters(http, request);
    return channel ->
        new RestCancellableNodeClient(client, http.getHttpChannel())
            .execute(type, request, new RestToXContentListener<>(channel));
  }
}
