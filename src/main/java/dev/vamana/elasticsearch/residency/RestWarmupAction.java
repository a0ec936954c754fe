package dev.vamana.elasticsearch.residency;

import java.util.List;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestToXContentListener;

/** {@code POST /{index}/_vamana/warmup}. */
public final class RestWarmupAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_warmup";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.POST, "/{index}/_vamana/warmup"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    WarmupRequest warmup =
        new WarmupRequest(Strings.splitStringByCommaToArray(request.param("index")));
    warmup.indicesOptions(IndicesOptions.fromRequest(request, warmup.indicesOptions()));
    warmup.uploadTimeout(request.paramAsTime("timeout", warmup.uploadTimeout()));
    warmup.waitForCompletion(
        request.paramAsBoolean("wait_for_completion", warmup.waitForCompletion()));
    return channel ->
        new RestCancellableNodeClient(client, request.getHttpChannel())
            .execute(TransportWarmupAction.TYPE, warmup, new RestToXContentListener<>(channel));
  }
}
