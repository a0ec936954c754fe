package dev.vamana.elasticsearch.codebook.nodes;

import java.io.IOException;
import org.elasticsearch.action.support.nodes.BaseNodesRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.transport.AbstractTransportRequest;

/** Asks all nodes how far their samples are. */
public final class SamplesRequest extends BaseNodesRequest {

  /** For every node. */
  public SamplesRequest() {
    super(new String[0]);
  }

  /** What each node is sent. */
  static final class OfNode extends AbstractTransportRequest {
    OfNode() {}

    OfNode(StreamInput in) throws IOException {
      super(in);
    }
  }
}
