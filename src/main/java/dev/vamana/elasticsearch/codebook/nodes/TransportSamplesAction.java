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

/** Collects how far the nodes' samples are. */
public final class TransportSamplesAction
    extends TransportNodesAction<
        SamplesRequest, NodesDone<NodeSamples>, SamplesRequest.OfNode, NodeSamples, Void> {

  /** The action. */
  public static final ActionType<NodesDone<NodeSamples>> TYPE =
      new ActionType<>("cluster:monitor/vamana/codebooks/samples");

  private final Samples samples;

  /** Called by the node. */
  @Inject
  public TransportSamplesAction(
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
        SamplesRequest.OfNode::new,
        threads.executor(ThreadPool.Names.MANAGEMENT));
    this.samples = samples;
  }

  @Override
  protected NodesDone<NodeSamples> newResponse(
      SamplesRequest request, List<NodeSamples> nodes, List<FailedNodeException> failures) {
    return new NodesDone<>(clusterService.getClusterName(), nodes, failures);
  }

  @Override
  protected SamplesRequest.OfNode newNodeRequest(SamplesRequest request) {
    return new SamplesRequest.OfNode();
  }

  @Override
  protected NodeSamples newNodeResponse(StreamInput in, DiscoveryNode node) throws IOException {
    return new NodeSamples(in, node);
  }

  @Override
  protected NodeSamples nodeOperation(SamplesRequest.OfNode request, Task task) {
    return new NodeSamples(clusterService.localNode(), samples.status());
  }
}
