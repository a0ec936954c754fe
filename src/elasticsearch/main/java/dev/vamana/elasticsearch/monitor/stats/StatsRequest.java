package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
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

  private final Set<String> metrics;

  /**
   * Makes a request to some nodes.
   *
   * @param metrics the sections to return, of {@link NodeFigures#SECTIONS}
   * @param nodes ids, names or attributes, as in all requests to nodes; none means all
   */
  public StatsRequest(Set<String> metrics, String... nodes) {
    super(nodes);
    this.metrics = Set.copyOf(metrics);
  }

  /** The sections to return. */
  public Set<String> metrics() {
    return metrics;
  }

  @Override
  public Task createTask(
      long id, String type, String action, TaskId parent, Map<String, String> headers) {
    return new CancellableTask(id, type, action, "", parent, headers);
  }

  /** The part of the request for one node. */
  static final class OfNode extends AbstractTransportRequest {
    private final Set<String> metrics;

    OfNode(Set<String> metrics) {
      this.metrics = Set.copyOf(metrics);
    }

    OfNode(StreamInput in) throws IOException {
      super(in);
      int version = WireVersion.read(in);
      metrics = Set.copyOf(in.readStringCollectionAsList());
      WireVersion.end(in, version);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      WireVersion.write(out);
      out.writeStringCollection(metrics);
    }

    Set<String> metrics() {
      return metrics;
    }

    @Override
    public Task createTask(
        long id, String type, String action, TaskId parent, Map<String, String> headers) {
      return new CancellableTask(id, type, action, "", parent, headers);
    }
  }
}
