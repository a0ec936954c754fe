package dev.vamana.elasticsearch.codebook.nodes;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.support.nodes.BaseNodeResponse;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/** Vectors from a node's sample. */
public final class NodeRows extends BaseNodeResponse {
  private final List<float[]> rows;

  NodeRows(DiscoveryNode node, List<float[]> rows) {
    super(node);
    this.rows = rows;
  }

  NodeRows(StreamInput in, DiscoveryNode node) throws IOException {
    super(in, node);
    rows = in.readCollectionAsImmutableList(StreamInput::readFloatArray);
  }

  /** The vectors; callers must not change them. */
  public List<float[]> rows() {
    return rows;
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeCollection(rows, StreamOutput::writeFloatArray);
  }
}
