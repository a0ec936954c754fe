package dev.vamana.elasticsearch.codebook.nodes;

import java.io.IOException;
import org.elasticsearch.action.support.nodes.BaseNodesRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.transport.AbstractTransportRequest;

/** Asks all nodes for the states of their samples. */
public final class SamplesRequest extends BaseNodesRequest {

  /** Makes a request to every node. */
  public SamplesRequest() {
    super(new String[0]);
  }

  /** The part of the request for one node. */
  static final class OfNode extends AbstractTransportRequest {
    OfNode() {}

    OfNode(StreamInput in) throws IOException {
      super(in);
    }
  }
}
