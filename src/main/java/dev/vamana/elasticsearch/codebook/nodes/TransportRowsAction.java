package dev.vamana.elasticsearch.codebook.nodes;

import dev.vamana.elasticsearch.codebook.sample.Samples;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.FailedNodeException;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.nodes.TransportNodesAction;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Reads vectors of a node's sample. */
public final class TransportRowsAction
    extends TransportNodesAction<
        RowsRequest, NodesDone<NodeRows>, RowsRequest.OfNode, NodeRows, Void> {

  /** The action. */
  public static final ActionType<NodesDone<NodeRows>> TYPE =
      new ActionType<>("cluster:admin/vamana/codebooks/rows");

  private final Samples samples;

  /** Called by the node. */
  @Inject
  public TransportRowsAction(
      ThreadPool threads,
      ClusterService cluster,
      TransportService transport,
      ActionFilters filters,
      Samples samples) {
    super(
        TYPE.name(),
        cluster,
        transport,
        filters,
        RowsRequest.OfNode::new,
        threads.executor(ThreadPool.Names.MANAGEMENT));
    this.samples = samples;
  }

  @Override
  protected NodesDone<NodeRows> newResponse(
      RowsRequest request, List<NodeRows> nodes, List<FailedNodeException> failures) {
    return new NodesDone<>(clusterService.getClusterName(), nodes, failures);
  }

  @Override
  protected RowsRequest.OfNode newNodeRequest(RowsRequest request) {
    return request.ofNode();
  }

  @Override
  protected NodeRows newNodeResponse(StreamInput in, DiscoveryNode node) throws IOException {
    return new NodeRows(in, node);
  }

  @Override
  protected NodeRows nodeOperation(RowsRequest.OfNode request, Task task) {
    return new NodeRows(
        clusterService.localNode(),
        samples.collect(
            request.name(), request.options(), request.seed(), request.from(), request.to()));
  }
}
