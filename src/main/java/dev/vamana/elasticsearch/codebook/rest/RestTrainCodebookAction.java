package dev.vamana.elasticsearch.codebook.rest;

import dev.vamana.elasticsearch.codebook.action.TrainCodebookRequest;
import dev.vamana.elasticsearch.codebook.action.TransportTrainCodebookAction;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestToXContentListener;
import org.elasticsearch.xcontent.XContentParser;

/** {@code POST /_vamana/codebooks/{name}/_train}. */
public final class RestTrainCodebookAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_train_codebook";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.POST, "/_vamana/codebooks/{name}/_train"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client)
      throws IOException {
    String name = request.param("name");
    boolean wait = request.paramAsBoolean("wait_for_completion", true);
    TrainCodebookRequest train;
    try (XContentParser parser = request.contentParser()) {
      train = new TrainCodebookRequest(name, TrainBody.read(parser), wait);
    }
    return channel -> {
      if (wait) {
        new RestCancellableNodeClient(client, request.getHttpChannel())
            .execute(
                TransportTrainCodebookAction.TYPE, train, new RestToXContentListener<>(channel));
      } else {
        client.execute(
            TransportTrainCodebookAction.TYPE, train, new RestToXContentListener<>(channel));
      }
    };
  }
}
