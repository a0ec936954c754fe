package dev.vamana.elasticsearch.codebook.rest;

import dev.vamana.elasticsearch.codebook.action.PutCodebookRequest;
import dev.vamana.elasticsearch.codebook.action.TransportPutCodebookAction;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestToXContentListener;
import org.elasticsearch.xcontent.XContentParser;

/** {@code PUT /_vamana/codebooks/{name}}. */
public final class RestPutCodebookAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_put_codebook";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.PUT, "/_vamana/codebooks/{name}"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client)
      throws IOException {
    boolean force = request.paramAsBoolean("force", false);
    PutCodebookRequest put;
    try (XContentParser parser = request.contentParser()) {
      put = CodebookBody.read(request.param("name"), parser.map(), force);
    }
    return channel ->
        client.execute(TransportPutCodebookAction.TYPE, put, new RestToXContentListener<>(channel));
  }
}
