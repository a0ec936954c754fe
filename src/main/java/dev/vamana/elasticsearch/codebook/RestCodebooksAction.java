package dev.vamana.elasticsearch.codebook;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.bytes.ReleasableBytesReference;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestRequest.Method;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestToXContentListener;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;

/** {@code GET}, {@code PUT}, {@code DELETE} and {@code POST} below {@code /_vamana/codebooks}. */
public final class RestCodebooksAction extends BaseRestHandler {
  private static final String ONE = "/_vamana/codebooks/{name}";

  @Override
  public String getName() {
    return "vamana_codebooks";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        new Route(Method.GET, "/_vamana/codebooks"),
        new Route(Method.GET, ONE),
        new Route(Method.PUT, ONE),
        new Route(Method.DELETE, ONE),
        new Route(Method.POST, ONE + "/_train"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client)
      throws IOException {
    String name = request.param("name", "");
    return switch (request.method()) {
      case PUT -> put(name, request, client);
      case DELETE -> {
        TransportDeleteCodebookAction.Request delete =
            new TransportDeleteCodebookAction.Request(name, request.paramAsBoolean("force", false));
        yield channel ->
            client.execute(
                TransportDeleteCodebookAction.TYPE, delete, new RestToXContentListener<>(channel));
      }
      case POST -> train(name, request, client);
      default -> {
        TransportGetCodebooksAction.Request get =
            new TransportGetCodebooksAction.Request(
                List.of(Strings.splitStringByCommaToArray(name)),
                request.paramAsBoolean("data", false));
        yield channel ->
            client.execute(
                TransportGetCodebooksAction.TYPE, get, new RestToXContentListener<>(channel));
      }
    };
  }

  /** Leaves the body to the action, which does not run on the thread that serves connections. */
  private static RestChannelConsumer put(String name, RestRequest request, NodeClient client) {
    ReleasableBytesReference body = request.requiredContent();
    TransportPutCodebookAction.Request put =
        new TransportPutCodebookAction.Request(name, body, request.getXContentType());
    return channel ->
        client.execute(
            TransportPutCodebookAction.TYPE,
            put,
            ActionListener.releaseAfter(new RestToXContentListener<>(channel), body.retain()));
  }

  private static RestChannelConsumer train(String name, RestRequest request, NodeClient client)
      throws IOException {
    boolean wait = request.paramAsBoolean("wait_for_completion", true);
    TransportTrainCodebookAction.Request train;
    try (XContentParser body = request.contentParser()) {
      train = TransportTrainCodebookAction.Request.read(name, !wait, body);
    }
    if (wait) {
      return channel ->
          new RestCancellableNodeClient(client, request.getHttpChannel())
              .execute(
                  TransportTrainCodebookAction.TYPE, train, new RestToXContentListener<>(channel));
    }
    return channel -> {
      Task task =
          client.executeLocally(TransportTrainCodebookAction.TYPE, train, ActionListener.noop());
      sendTask(channel, new TaskId(client.getLocalNodeId(), task.getId()));
    };
  }

  private static void sendTask(RestChannel channel, TaskId task) throws IOException {
    try (XContentBuilder json = channel.newBuilder()) {
      json.startObject().field("task", task.toString()).endObject();
      channel.sendResponse(new RestResponse(RestStatus.OK, json));
    }
  }
}
