package dev.vamana.elasticsearch.codebook.nodes;

import dev.vamana.elasticsearch.codebook.store.CodebookLoader;
import java.io.IOException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.nodes.BaseNodeResponse;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Tells the nodes that a codebook has changed, so that each reloads it. */
public final class TransportReloadAction
    extends NodesAction<
        NamedNodesRequest, NamedNodesRequest.OfNode, TransportReloadAction.Reloaded> {

  /** The action. */
  public static final ActionType<NodesDone<Reloaded>> TYPE =
      new ActionType<>("cluster:admin/vamana/codebooks/reload");

  private final CodebookLoader loader;

  /** A node's confirmation that it has reloaded the codebook. */
  public static final class Reloaded extends BaseNodeResponse {
    Reloaded(DiscoveryNode node) {
      super(node);
    }

    Reloaded(StreamInput in, DiscoveryNode node) throws IOException {
      super(in, node);
    }
  }

  /** Called by the node. */
  @Inject
  public TransportReloadAction(
      ThreadPool threads,
      ClusterService cluster,
      TransportService transport,
      ActionFilters filters,
      CodebookLoader loader) {
    super(TYPE, threads, cluster, transport, filters, NamedNodesRequest.OfNode::new, Reloaded::new);
    this.loader = loader;
  }

  @Override
  protected NamedNodesRequest.OfNode newNodeRequest(NamedNodesRequest request) {
    return request.ofNode();
  }

  @Override
  protected Reloaded nodeOperation(NamedNodesRequest.OfNode request, Task task) {
    throw new UnsupportedOperationException("answers when the codebook has been read");
  }

  @Override
  protected void nodeOperationAsync(
      NamedNodesRequest.OfNode request, Task task, ActionListener<Reloaded> listener) {
    loader.load(request.name(), listener.map(done -> new Reloaded(clusterService.localNode())));
  }
}
