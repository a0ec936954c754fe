package dev.vamana.elasticsearch.codebook.rest;

import dev.vamana.elasticsearch.codebook.action.GetCodebooksRequest;
import dev.vamana.elasticsearch.codebook.action.TransportGetCodebooksAction;
import java.util.List;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestToXContentListener;

/** {@code GET /_vamana/codebooks} and {@code GET /_vamana/codebooks/{name}}. */
public final class RestGetCodebooksAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_get_codebooks";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        new Route(RestRequest.Method.GET, "/_vamana/codebooks"),
        new Route(RestRequest.Method.GET, "/_vamana/codebooks/{name}"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    GetCodebooksRequest get =
        new GetCodebooksRequest(
            List.of(Strings.splitStringByCommaToArray(request.param("name", ""))),
            request.paramAsBoolean("data", false));
    return channel ->
        client.execute(
            TransportGetCodebooksAction.TYPE, get, new RestToXContentListener<>(channel));
  }
}
