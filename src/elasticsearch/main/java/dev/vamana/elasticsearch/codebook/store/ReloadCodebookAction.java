package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.FailedNodeException;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.action.support.nodes.BaseNodeResponse;
import org.elasticsearch.action.support.nodes.BaseNodesRequest;
import org.elasticsearch.action.support.nodes.BaseNodesResponse;
import org.elasticsearch.action.support.nodes.TransportNodesAction;
import org.elasticsearch.cluster.ClusterName;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.AbstractTransportRequest;
import org.elasticsearch.transport.TransportService;

/** Tells the nodes that a codebook has changed, so that each reads it again. */
public final class ReloadCodebookAction
    extends TransportNodesAction<
        ReloadCodebookAction.Request,
        ReloadCodebookAction.Answers,
        ReloadCodebookAction.OfNode,
        ReloadCodebookAction.Answer,
        Void> {

  /** The action. */
  public static final ActionType<Answers> TYPE =
      new ActionType<>("cluster:admin/vamana/codebooks/reload");

  private final CodebookLoader loader;

  /** Called by the node. */
  @Inject
  public ReloadCodebookAction(
      ThreadPool threads,
      ClusterService cluster,
      TransportService transport,
      ActionFilters filters,
      CodebookLoader loader) {
    super(
        TYPE.name(),
        cluster,
        transport,
        filters,
        OfNode::new,
        threads.executor(ThreadPool.Names.MANAGEMENT));
    this.loader = loader;
  }

  /** A request to all nodes. */
  static final class Request extends BaseNodesRequest {
    private final String name;

    Request(String name) {
      super(new String[0]);
      this.name = name;
    }
  }

  /** The part of the request for one node. */
  static final class OfNode extends AbstractTransportRequest {
    final String name;

    OfNode(String name) {
      this.name = name;
    }

    OfNode(StreamInput in) throws IOException {
      super(in);
      int version = WireVersion.read(in);
      name = in.readString();
      WireVersion.end(in, version);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      WireVersion.write(out);
      out.writeString(name);
    }
  }

  /** A node's confirmation that it has read the codebook. */
  static final class Answer extends BaseNodeResponse {
    Answer(DiscoveryNode node) {
      super(node);
    }

    Answer(StreamInput in, DiscoveryNode node) throws IOException {
      super(in, node);
      WireVersion.end(in, WireVersion.read(in));
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      WireVersion.write(out);
    }
  }

  /** The confirmations of the nodes. It is never sent over the wire. */
  static final class Answers extends BaseNodesResponse<Answer> {
    Answers(ClusterName cluster, List<Answer> nodes, List<FailedNodeException> failures) {
      super(cluster, nodes, failures);
    }

    @Override
    protected List<Answer> readNodesFrom(StreamInput in) {
      return TransportAction.localOnly();
    }

    @Override
    protected void writeNodesTo(StreamOutput out, List<Answer> nodes) {
      TransportAction.localOnly();
    }
  }

  @Override
  protected OfNode newNodeRequest(Request request) {
    return new OfNode(request.name);
  }

  @Override
  protected Answer newNodeResponse(StreamInput in, DiscoveryNode node) throws IOException {
    return new Answer(in, node);
  }

  @Override
  protected Answers newResponse(
      Request request, List<Answer> nodes, List<FailedNodeException> failures) {
    return new Answers(clusterService.getClusterName(), nodes, failures);
  }

  @Override
  protected Answer nodeOperation(OfNode request, Task task) {
    throw new UnsupportedOperationException("answers when the codebook has been read");
  }

  @Override
  protected void nodeOperationAsync(OfNode request, Task task, ActionListener<Answer> listener) {
    loader.load(request.name, listener.map(done -> new Answer(clusterService.localNode())));
  }
}
