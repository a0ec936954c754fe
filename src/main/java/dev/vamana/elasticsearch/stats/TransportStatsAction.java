package dev.vamana.elasticsearch.stats;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
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

/** Collects the statistics of nodes. */
public final class TransportStatsAction
    extends TransportNodesAction<
        StatsRequest, StatsResponse, StatsRequest.OfNode, NodeStats, Void> {

  /** The action; whoever may monitor the cluster may use it. */
  public static final ActionType<StatsResponse> TYPE =
      new ActionType<>("cluster:monitor/vamana/stats");

  private final Source source;

  /** Where this node's statistics come from. */
  public static final class Source {
    private final Supplier<GpuStats> gpu;

    /** Asks for the statistics anew for each request. */
    public Source(Supplier<GpuStats> gpu) {
      this.gpu = Objects.requireNonNull(gpu, "gpu");
    }
  }

  /** Called by the node. */
  @Inject
  public TransportStatsAction(
      ThreadPool threads,
      ClusterService cluster,
      TransportService transport,
      ActionFilters filters,
      Source source) {
    super(
        TYPE.name(),
        cluster,
        transport,
        filters,
        StatsRequest.OfNode::new,
        threads.executor(ThreadPool.Names.MANAGEMENT));
    this.source = source;
  }

  @Override
  protected StatsResponse newResponse(
      StatsRequest request, List<NodeStats> nodes, List<FailedNodeException> failures) {
    return new StatsResponse(clusterService.getClusterName(), nodes, failures);
  }

  @Override
  protected StatsRequest.OfNode newNodeRequest(StatsRequest request) {
    return new StatsRequest.OfNode();
  }

  @Override
  protected NodeStats newNodeResponse(StreamInput in, DiscoveryNode node) throws IOException {
    return new NodeStats(in, node);
  }

  @Override
  protected NodeStats nodeOperation(StatsRequest.OfNode request, Task task) {
    return new NodeStats(clusterService.localNode(), source.gpu.get());
  }
}
