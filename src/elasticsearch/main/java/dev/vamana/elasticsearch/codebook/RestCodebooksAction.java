package dev.vamana.elasticsearch.codebook;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.bytes.ReleasableBytesReference;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestHandler;
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

/** The endpoints {@code /_vamana/codebooks}. */
public final class RestCodebooksAction extends BaseRestHandler {
  private static final String ALL = "/_vamana/codebooks";
  private static final String ONE = ALL + "/{name}";

  private final String name;
  private final Preparation preparation;
  private final List<Route> routes;

  /** Reads a request to one of the routes. */
  @FunctionalInterface
  private interface Preparation {
    RestChannelConsumer of(RestRequest request, NodeClient client) throws IOException;
  }

  private RestCodebooksAction(String name, Preparation preparation, Route... routes) {
    this.name = name;
    this.preparation = preparation;
    this.routes = List.of(routes);
  }

  /** Makes the handlers of all endpoints. */
  public static List<RestHandler> all() {
    return List.of(
        new RestCodebooksAction(
            "vamana_get_codebooks",
            RestCodebooksAction::get,
            new Route(Method.GET, ALL),
            new Route(Method.GET, ONE)),
        new RestCodebooksAction(
            "vamana_put_codebook", RestCodebooksAction::put, new Route(Method.PUT, ONE)),
        new RestCodebooksAction(
            "vamana_delete_codebook", RestCodebooksAction::delete, new Route(Method.DELETE, ONE)),
        new RestCodebooksAction(
            "vamana_train_codebook",
            RestCodebooksAction::train,
            new Route(Method.POST, ONE + "/_train")));
  }

  @Override
  public String getName() {
    return name;
  }

  @Override
  public List<Route> routes() {
    return routes;
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client)
      throws IOException {
    return preparation.of(request, client);
  }

  private static RestChannelConsumer get(RestRequest request, NodeClient client) {
    TransportGetCodebooksAction.Request get =
        new TransportGetCodebooksAction.Request(
            List.of(Strings.splitStringByCommaToArray(request.param("name", ""))),
            request.paramAsBoolean("data", false));
    return channel ->
        client.execute(
            TransportGetCodebooksAction.TYPE, get, new RestToXContentListener<>(channel));
  }

  private static RestChannelConsumer delete(RestRequest request, NodeClient client) {
    TransportDeleteCodebookAction.Request delete =
        new TransportDeleteCodebookAction.Request(
            request.param("name"), request.paramAsBoolean("force", false));
    return channel ->
        client.execute(
            TransportDeleteCodebookAction.TYPE, delete, new RestToXContentListener<>(channel));
  }

  /** Leaves the body to the action, which does not run on the thread that serves connections. */
  private static RestChannelConsumer put(RestRequest request, NodeClient client) {
    ReleasableBytesReference body = request.requiredContent();
    TransportPutCodebookAction.Request put =
        new TransportPutCodebookAction.Request(
            request.param("name"), body, request.getXContentType());
    return channel ->
        client.execute(
            TransportPutCodebookAction.TYPE,
            put,
            ActionListener.releaseAfter(new RestToXContentListener<>(channel), body.retain()));
  }

  private static RestChannelConsumer train(RestRequest request, NodeClient client)
      throws IOException {
    boolean wait = request.paramAsBoolean("wait_for_completion", true);
    TransportTrainCodebookAction.Request train;
    try (XContentParser body = request.contentParser()) {
      train = TransportTrainCodebookAction.Request.read(request.param("name"), !wait, body);
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
