package dev.vamana.elasticsearch.search.neighbors;

import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.FailedNodeException;
import org.elasticsearch.action.TaskOperationFailure;
import org.elasticsearch.action.admin.cluster.node.tasks.list.ListTasksResponse;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.tasks.BaseTasksRequest;
import org.elasticsearch.action.support.tasks.TransportTasksAction;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.index.reindex.BulkByPaginatedSearchTask;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.TaskInfo;
import org.elasticsearch.transport.TransportService;

/** Changes the pace of a run that finds neighbours, on the node that runs it. */
public final class TransportRethrottleAction
    extends TransportTasksAction<
        BulkByPaginatedSearchTask, TransportRethrottleAction.Request, ListTasksResponse, TaskInfo> {

  /** The action. It requires the privilege to manage the cluster, as for a reindex. */
  public static final ActionType<ListTasksResponse> TYPE =
      new ActionType<>("cluster:admin/vamana/neighbors/rethrottle");

  /** Names a task and its new pace. */
  public static final class Request extends BaseTasksRequest<Request> {
    private final float requestsPerSecond;

    /**
     * Makes a request of no task yet.
     *
     * @param requestsPerSecond documents a second, above 0, or infinity
     */
    public Request(float requestsPerSecond) {
      this.requestsPerSecond = requestsPerSecond;
      setActions(TransportNeighborsAction.TYPE.name());
    }

    private Request(StreamInput in) throws IOException {
      super(in);
      int version = WireVersion.read(in);
      requestsPerSecond = in.readFloat();
      WireVersion.end(in, version);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      WireVersion.write(out);
      out.writeFloat(requestsPerSecond);
    }
  }

  /** Called by the node. */
  @Inject
  public TransportRethrottleAction(
      ClusterService cluster, TransportService transport, ActionFilters filters) {
    super(
        TYPE.name(),
        cluster,
        transport,
        filters,
        Request::new,
        TaskInfo::from,
        EsExecutors.DIRECT_EXECUTOR_SERVICE);
  }

  @Override
  protected void taskOperation(
      CancellableTask own,
      Request request,
      BulkByPaginatedSearchTask task,
      ActionListener<TaskInfo> changed) {
    task.getWorkerState().rethrottle(request.requestsPerSecond);
    changed.onResponse(task.taskInfo(clusterService.localNode().getId(), true));
  }

  @Override
  protected ListTasksResponse newResponse(
      Request request,
      List<TaskInfo> tasks,
      List<TaskOperationFailure> failures,
      List<FailedNodeException> nodeFailures) {
    return new ListTasksResponse(tasks, failures, nodeFailures);
  }
}
