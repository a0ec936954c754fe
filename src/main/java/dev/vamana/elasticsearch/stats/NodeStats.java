package dev.vamana.elasticsearch.stats;

import java.io.IOException;
import java.util.Objects;
import org.elasticsearch.action.support.nodes.BaseNodeResponse;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.xcontent.ToXContentFragment;
import org.elasticsearch.xcontent.XContentBuilder;

/** One node's statistics. */
public final class NodeStats extends BaseNodeResponse implements ToXContentFragment {
  private final GpuStats gpu;

  /** Statistics of a node. */
  public NodeStats(DiscoveryNode node, GpuStats gpu) {
    super(node);
    this.gpu = Objects.requireNonNull(gpu, "gpu");
  }

  /**
   * Reads what {@link #writeTo} wrote.
   *
   * @param node the node that answers, whose description is then not made anew; or null
   */
  NodeStats(StreamInput in, DiscoveryNode node) throws IOException {
    super(in, node);
    gpu = new GpuStats(in);
  }

  /** The node's GPU. */
  public GpuStats gpu() {
    return gpu;
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    gpu.writeTo(out);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.field("name", getNode().getName());
    json.field("transport_address", getNode().getAddress().toString());
    return json.field("gpu", gpu);
  }
}
