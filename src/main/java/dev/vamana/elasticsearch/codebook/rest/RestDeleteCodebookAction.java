package dev.vamana.elasticsearch.codebook.rest;

import dev.vamana.elasticsearch.codebook.action.DeleteCodebookRequest;
import dev.vamana.elasticsearch.codebook.action.TransportDeleteCodebookAction;
import java.util.List;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestToXContentListener;

/** {@code DELETE /_vamana/codebooks/{name}}. */
public final class RestDeleteCodebookAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_delete_codebook";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.DELETE, "/_vamana/codebooks/{name}"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    DeleteCodebookRequest delete =
        new DeleteCodebookRequest(request.param("name"), request.paramAsBoolean("force", false));
    return channel ->
        client.execute(
            TransportDeleteCodebookAction.TYPE, delete, new RestToXContentListener<>(channel));
  }
}
