package dev.vamana.elasticsearch.residency;

import java.util.List;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestToXContentListener;

/** {@code POST /{index}/_vamana/clear_cache}. */
public final class RestClearCacheAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_clear_cache";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.POST, "/{index}/_vamana/clear_cache"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    ClearCacheRequest clear =
        new ClearCacheRequest(Strings.splitStringByCommaToArray(request.param("index")));
    clear.indicesOptions(IndicesOptions.fromRequest(request, clear.indicesOptions()));
    return channel ->
        new RestCancellableNodeClient(client, request.getHttpChannel())
            .execute(TransportClearCacheAction.TYPE, clear, new RestToXContentListener<>(channel));
  }
}
