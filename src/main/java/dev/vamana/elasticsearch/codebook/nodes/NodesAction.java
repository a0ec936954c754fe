package dev.vamana.elasticsearch.codebook.nodes;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.FailedNodeException;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.nodes.BaseNodeResponse;
import org.elasticsearch.action.support.nodes.BaseNodesRequest;
import org.elasticsearch.action.support.nodes.TransportNodesAction;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.AbstractTransportRequest;
import org.elasticsearch.transport.TransportService;

/**
 * Base class of actions that ask nodes about codebooks; runs on threads of the management pool.
 *
 * @param <Q> the request
 * @param <P> the part of the request for one node
 * @param <N> the answer of one node
 */
abstract class NodesAction<
        Q extends BaseNodesRequest, P extends AbstractTransportRequest, N extends BaseNodeResponse>
    extends TransportNodesAction<Q, NodesDone<N>, P, N, Void> {

  private final Answers<N> answers;

  /** Reads a node's answer. */
  interface Answers<N> {
    N read(StreamInput in, DiscoveryNode node) throws IOException;
  }

  NodesAction(
      ActionType<NodesDone<N>> type,
      ThreadPool threads,
      ClusterService cluster,
      TransportService transport,
      ActionFilters filters,
      Writeable.Reader<P> requests,
      Answers<N> answers) {
    super(
        type.name(),
        cluster,
        transport,
        filters,
        requests,
        threads.executor(ThreadPool.Names.MANAGEMENT));
    this.answers = answers;
  }

  @Override
  protected final NodesDone<N> newResponse(
      Q request, List<N> nodes, List<FailedNodeException> failures) {
    return new NodesDone<>(clusterService.getClusterName(), nodes, failures);
  }

  @Override
  protected final N newNodeResponse(StreamInput in, DiscoveryNode node) throws IOException {
    return answers.read(in, node);
  }
}
