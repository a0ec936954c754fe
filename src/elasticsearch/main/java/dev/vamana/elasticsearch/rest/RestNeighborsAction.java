package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.neighbors.NeighborsRequest;
import dev.vamana.elasticsearch.search.neighbors.TransportNeighborsAction;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.index.reindex.BulkByPaginatedSearchResponse;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.action.RestBuilderListener;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;

/**
 * {@code POST /{index}/_vamana/neighbors}. Without {@code wait_for_completion} it answers with a
 * task, whose result is kept; otherwise closing the connection cancels the run.
 */
public final class RestNeighborsAction extends BaseRestHandler {

  /** Parameter for the pace of a run. */
  static final String PACE = "requests_per_second";

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
    float requestsPerSecond = requestsPerSecond(request.param(PACE));
    String[] indices = Strings.splitStringByCommaToArray(request.param("index"));
    boolean waits = request.paramAsBoolean("wait_for_completion", true);
    boolean refresh = request.paramAsBoolean("refresh", false);
    NeighborsRequest neighbors;
    try (XContentParser parser = request.contentParser()) {
      neighbors =
          new NeighborsRequest(
              indices, NeighborsBody.parse(parser), refresh, waits == false, requestsPerSecond);
    }
    return waits
        ? channel ->
            new RestCancellableNodeClient(client, request.getHttpChannel())
                .execute(TransportNeighborsAction.TYPE, neighbors, answer(channel))
        : channel -> start(client, neighbors, channel);
  }

  /** Reads a pace as a reindex does: -1 and nothing stand for no limit. */
  static float requestsPerSecond(String text) {
    float value;
    try {
      value = text == null ? -1 : Float.parseFloat(text);
    } catch (NumberFormatException e) {
      value = 0;
    }
    if (value == -1) {
      return Float.POSITIVE_INFINITY;
    }
    if (value > 0) {
      return value;
    }
    throw BadBody.of(
        "[%s] is [%s], allowed is a number above 0, or -1 for no limit", PACE, BadBody.shown(text));
  }

  private static ActionListener<BulkByPaginatedSearchResponse> answer(RestChannel channel) {
    return new RestBuilderListener<>(channel) {
      @Override
      public RestResponse buildResponse(
          BulkByPaginatedSearchResponse response, XContentBuilder json) throws IOException {
        json.startObject();
        response.toXContent(json, channel.request());
        return new RestResponse(RestStatus.OK, json.endObject());
      }
    };
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
