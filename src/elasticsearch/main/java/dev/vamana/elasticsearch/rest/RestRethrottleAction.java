package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.neighbors.TransportRethrottleAction;
import java.util.List;
import org.elasticsearch.action.admin.cluster.node.tasks.list.ListTasksResponse;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestChunkedToXContentListener;
import org.elasticsearch.tasks.TaskId;

/** {@code POST /_vamana/neighbors/{task_id}/_rethrottle} changes the pace of a run. */
public final class RestRethrottleAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_rethrottle_neighbors";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.POST, "/_vamana/neighbors/{task_id}/_rethrottle"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    TaskId task = new TaskId(request.param("task_id"));
    if (request.hasParam(RestNeighborsAction.PACE) == false) {
      throw BadBody.of(
          "[%s] is missing, allowed is a number above 0, or -1 for no limit",
          RestNeighborsAction.PACE);
    }
    float pace = RestNeighborsAction.requestsPerSecond(request.param(RestNeighborsAction.PACE));
    TransportRethrottleAction.Request rethrottle =
        new TransportRethrottleAction.Request(pace).setTargetTaskId(task);
    return channel ->
        client.execute(
            TransportRethrottleAction.TYPE,
            rethrottle,
            new RestChunkedToXContentListener<>(channel)
                .map(
                    response -> {
                      throwFailure(response);
                      return response.groupedByNone();
                    }));
  }

  /** The node's failure says that a node failed; its cause says that the task is not there. */
  private static void throwFailure(ListTasksResponse response) throws Exception {
    if (response.getNodeFailures().isEmpty() == false
        && response.getNodeFailures().get(0).getCause() instanceof Exception cause) {
      throw cause;
    }
    response.rethrowFailures("rethrottle");
  }
}
