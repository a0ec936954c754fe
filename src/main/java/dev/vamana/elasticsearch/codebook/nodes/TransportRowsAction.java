package dev.vamana.elasticsearch.codebook.nodes;

import dev.vamana.elasticsearch.codebook.sample.Samples;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Returns vectors from a node's sample. */
public final class TransportRowsAction
    extends NodesAction<RowsRequest, RowsRequest.OfNode, NodeRows> {

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
    super(TYPE, threads, cluster, transport, filters, RowsRequest.OfNode::new, NodeRows::new);
    this.samples = samples;
  }

  @Override
  protected RowsRequest.OfNode newNodeRequest(RowsRequest request) {
    return request.ofNode();
  }

  @Override
  protected NodeRows nodeOperation(RowsRequest.OfNode request, Task task) {
    return new NodeRows(
        clusterService.localNode(),
        samples.collect(
            request.name(), request.options(), request.seed(), request.from(), request.to()));
  }
}
