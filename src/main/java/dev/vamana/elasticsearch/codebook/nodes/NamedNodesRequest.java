package dev.vamana.elasticsearch.codebook.nodes;

import java.io.IOException;
import org.elasticsearch.action.support.nodes.BaseNodesRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.transport.AbstractTransportRequest;

/** A request to all nodes about one codebook. */
public final class NamedNodesRequest extends BaseNodesRequest {
  private final String name;

  /** Makes a request to every node. */
  public NamedNodesRequest(String name) {
    super(new String[0]);
    this.name = name;
  }

  OfNode ofNode() {
    return new OfNode(name);
  }

  /** The part of the request for one node. */
  static final class OfNode extends AbstractTransportRequest {
    private final String name;

    OfNode(String name) {
      this.name = name;
    }

    OfNode(StreamInput in) throws IOException {
      super(in);
      name = in.readString();
    }

    String name() {
      return name;
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      out.writeString(name);
    }
  }
}
