package dev.vamana.elasticsearch.codebook.nodes;

import dev.vamana.elasticsearch.codebook.sample.Samples;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Collects the states of the nodes' samples. */
public final class TransportSamplesAction
    extends NodesAction<SamplesRequest, SamplesRequest.OfNode, NodeSamples> {

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
    super(TYPE, threads, cluster, transport, filters, SamplesRequest.OfNode::new, NodeSamples::new);
    this.samples = samples;
  }

  @Override
  protected SamplesRequest.OfNode newNodeRequest(SamplesRequest request) {
    return new SamplesRequest.OfNode();
  }

  @Override
  protected NodeSamples nodeOperation(SamplesRequest.OfNode request, Task task) {
    return new NodeSamples(clusterService.localNode(), samples.status());
  }
}
