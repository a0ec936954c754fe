package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.neighbors.NeighborsRequest;
import dev.vamana.elasticsearch.search.neighbors.TransportNeighborsAction;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestToXContentListener;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;

/**
 * {@code POST /{index}/_vamana/neighbors}. Without {@code wait_for_completion} it answers with a
 * task, whose result is kept; otherwise closing the connection cancels the run.
 */
public final class RestNeighborsAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_neighbors";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.POST, "/{index}/_vamana/neighbors"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client)
      throws IOException {
    String[] indices = Strings.splitStringByCommaToArray(request.param("index"));
    boolean waits = request.paramAsBoolean("wait_for_completion", true);
    boolean refresh = request.paramAsBoolean("refresh", false);
    NeighborsRequest neighbors;
    try (XContentParser parser = request.contentParser()) {
      neighbors =
          new NeighborsRequest(indices, NeighborsBody.parse(parser), refresh, waits == false);
    }
    if (waits) {
      return channel ->
          new RestCancellableNodeClient(client, request.getHttpChannel())
              .execute(
                  TransportNeighborsAction.TYPE, neighbors, new RestToXContentListener<>(channel));
    }
    ActionRequestValidationException invalid = neighbors.validate();
    if (invalid != null) {
      throw invalid;
    }
    return channel -> start(client, neighbors, channel);
  }

  private static void start(NodeClient client, NeighborsRequest neighbors, RestChannel channel)
      throws IOException {
    Task started =
        client.executeLocally(TransportNeighborsAction.TYPE, neighbors, ActionListener.noop());
    try (XContentBuilder json = channel.newBuilder()) {
      json.startObject().field("task", client.getLocalNodeId() + ":" + started.getId()).endObject();
      channel.sendResponse(new RestResponse(RestStatus.OK, json));
    }
  }
}
