package dev.vamana.elasticsearch.codebook.nodes;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import java.io.IOException;
import org.elasticsearch.action.support.nodes.BaseNodesRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.transport.AbstractTransportRequest;

/** Asks one node for vectors of its sample. The node seals the sample. */
public final class RowsRequest extends BaseNodesRequest {
  private final OfNode ofNode;

  /**
   * Makes a request for rows {@code from} to {@code to - 1} in an order that the seed determines.
   *
   * @param node id of the node
   * @param name name of the codebook
   * @param options options of the sample
   */
  public RowsRequest(String node, String name, SampleOptions options, long seed, int from, int to) {
    super(new String[] {node});
    ofNode = new OfNode(name, options, seed, from, to);
  }

  OfNode ofNode() {
    return ofNode;
  }

  /** The part of the request for the node. */
  static final class OfNode extends AbstractTransportRequest {
    private final String name;
    private final SampleOptions options;
    private final long seed;
    private final int from;
    private final int to;

    OfNode(String name, SampleOptions options, long seed, int from, int to) {
      this.name = name;
      this.options = options;
      this.seed = seed;
      this.from = from;
      this.to = to;
    }

    OfNode(StreamInput in) throws IOException {
      super(in);
      name = in.readString();
      options = new SampleOptions(in);
      seed = in.readLong();
      from = in.readVInt();
      to = in.readVInt();
    }

    String name() {
      return name;
    }

    SampleOptions options() {
      return options;
    }

    long seed() {
      return seed;
    }

    int from() {
      return from;
    }

    int to() {
      return to;
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      out.writeString(name);
      options.writeTo(out);
      out.writeLong(seed);
      out.writeVInt(from);
      out.writeVInt(to);
    }
  }
}
