package dev.vamana.elasticsearch.monitor.stats;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.action.support.nodes.BaseNodesRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.transport.AbstractTransportRequest;

/** Asks nodes for their statistics. */
public final class StatsRequest extends BaseNodesRequest {

  private final Set<Metric> metrics;

  /**
   * Makes a request to some nodes.
   *
   * @param metrics the metrics to return
   * @param nodes ids, names or attributes, as in all requests to nodes; none means all
   */
  public StatsRequest(Set<Metric> metrics, String... nodes) {
    super(nodes);
    this.metrics = Set.copyOf(metrics);
  }

  /** The metrics to return. */
  public Set<Metric> metrics() {
    return metrics;
  }

  @Override
  public Task createTask(
      long id, String type, String action, TaskId parent, Map<String, String> headers) {
    return new CancellableTask(id, type, action, "", parent, headers);
  }

  /** The part of the request for one node. */
  static final class OfNode extends AbstractTransportRequest {
    private final Set<Metric> metrics;

    OfNode(Set<Metric> metrics) {
      this.metrics = Set.copyOf(metrics);
    }

    OfNode(StreamInput in) throws IOException {
      super(in);
      metrics = Set.copyOf(in.readEnumSet(Metric.class));
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      EnumSet<Metric> written = EnumSet.noneOf(Metric.class);
      written.addAll(metrics);
      out.writeEnumSet(written);
    }

    Set<Metric> metrics() {
      return metrics;
    }

    @Override
    public Task createTask(
        long id, String type, String action, TaskId parent, Map<String, String> headers) {
      return new CancellableTask(id, type, action, "", parent, headers);
    }
  }
}
