package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import org.elasticsearch.action.support.nodes.BaseNodeResponse;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.xcontent.ToXContentFragment;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * One node's statistics. They are sent with their names, so that nodes with different versions of
 * the plugin understand each other.
 */
public final class NodeStats extends BaseNodeResponse implements ToXContentFragment {
  private final long timestamp;
  private final Map<String, Object> sections;

  /**
   * Makes the statistics of a node.
   *
   * @param timestamp when they were taken, in milliseconds since 1970
   * @param sections the tree of {@link NodeFigures}
   */
  NodeStats(DiscoveryNode node, long timestamp, Map<String, Object> sections) {
    super(node);
    this.timestamp = timestamp;
    this.sections = Objects.requireNonNull(sections, "sections");
  }

  /**
   * Reads what {@link #writeTo} wrote.
   *
   * @param node the node that answers, which saves reading its description; or null
   */
  NodeStats(StreamInput in, DiscoveryNode node) throws IOException {
    super(in, node);
    int version = WireVersion.read(in);
    timestamp = in.readZLong();
    sections = in.readGenericMap();
    WireVersion.end(in, version);
  }

  /** The requested sections, as objects and lists of JSON. */
  public Map<String, Object> sections() {
    return sections;
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    WireVersion.write(out);
    out.writeZLong(timestamp);
    out.writeGenericMap(sections);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.field("name", getNode().getName());
    json.field("transport_address", getNode().getAddress().toString());
    json.field("timestamp", timestamp);
    Figures.write(json, sections);
    return json;
  }
}
