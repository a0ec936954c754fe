package dev.vamana.elasticsearch.monitor.stats;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.elasticsearch.ResourceNotFoundException;
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

/**
 * Collects the statistics of nodes, on generic threads: the driver may block them, and a health
 * report waits for the answer on a management thread.
 */
public final class TransportStatsAction
    extends TransportNodesAction<
        StatsRequest, StatsResponse, StatsRequest.OfNode, NodeStats, Void> {

  /** The action. It requires the privilege to monitor the cluster. */
  public static final ActionType<StatsResponse> TYPE =
      new ActionType<>("cluster:monitor/vamana/stats");

  private final StatsSource source;
  private final ThreadPool threads;

  /** Called by the node. */
  @Inject
  public TransportStatsAction(
      ThreadPool threads,
      ClusterService cluster,
      TransportService transport,
      ActionFilters filters,
      StatsSource source) {
    super(TYPE.name(), cluster, transport, filters, StatsRequest.OfNode::new, threads.generic());
    this.source = source;
    this.threads = threads;
  }

  @Override
  protected StatsResponse newResponse(
      StatsRequest request, List<NodeStats> nodes, List<FailedNodeException> failures) {
    if (nodes.isEmpty() && failures.isEmpty()) {
      throw new ResourceNotFoundException(
          "no node has an id, name or attribute of " + Arrays.toString(request.nodesIds()));
    }
    return new StatsResponse(clusterService.getClusterName(), nodes, failures);
  }

  @Override
  protected StatsRequest.OfNode newNodeRequest(StatsRequest request) {
    return new StatsRequest.OfNode(request.metrics());
  }

  @Override
  protected NodeStats newNodeResponse(StreamInput in, DiscoveryNode node) throws IOException {
    return new NodeStats(in, node);
  }

  @Override
  protected NodeStats nodeOperation(StatsRequest.OfNode request, Task task) {
    return new NodeStats(
        clusterService.localNode(),
        threads.absoluteTimeInMillis(),
        NodeFigures.tree(request.metrics(), source));
  }
}
