package dev.vamana.elasticsearch.codebook.nodes;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.FailedNodeException;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.action.support.nodes.BaseNodeResponse;
import org.elasticsearch.action.support.nodes.BaseNodesResponse;
import org.elasticsearch.cluster.ClusterName;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/**
 * The answers of several nodes. It is never sent over the wire.
 *
 * @param <T> the answer of one node
 */
public final class NodesDone<T extends BaseNodeResponse> extends BaseNodesResponse<T> {
  NodesDone(ClusterName cluster, List<T> nodes, List<FailedNodeException> failures) {
    super(cluster, nodes, failures);
  }

  @Override
  protected List<T> readNodesFrom(StreamInput in) throws IOException {
    return TransportAction.localOnly();
  }

  @Override
  protected void writeNodesTo(StreamOutput out, List<T> nodes) throws IOException {
    TransportAction.localOnly();
  }
}
