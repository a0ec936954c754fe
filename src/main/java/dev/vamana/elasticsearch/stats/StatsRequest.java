package dev.vamana.elasticsearch.stats;

import java.io.IOException;
import java.util.Map;
import org.elasticsearch.action.support.nodes.BaseNodesRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.transport.AbstractTransportRequest;

/** Asks nodes for their statistics. */
public final class StatsRequest extends BaseNodesRequest {

  /**
   * A request to some nodes.
   *
   * @param nodes ids, names or attributes as in all requests to nodes; none means all
   */
  public StatsRequest(String... nodes) {
    super(nodes);
  }

  @Override
  public Task createTask(
      long id, String type, String action, TaskId parent, Map<String, String> headers) {
    return new CancellableTask(id, type, action, "", parent, headers);
  }

  /** What each node is sent. */
  static final class OfNode extends AbstractTransportRequest {
    OfNode() {}

    OfNode(StreamInput in) throws IOException {
      super(in);
    }

    @Override
    public Task createTask(
        long id, String type, String action, TaskId parent, Map<String, String> headers) {
      return new CancellableTask(id, type, action, "", parent, headers);
    }
  }
}
