package dev.vamana.elasticsearch.codebook.nodes;

import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.support.nodes.BaseNodeResponse;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/** The states of a node's samples. */
public final class NodeSamples extends BaseNodeResponse {
  private final List<SampleStatus> samples;

  NodeSamples(DiscoveryNode node, List<SampleStatus> samples) {
    super(node);
    this.samples = List.copyOf(samples);
  }

  NodeSamples(StreamInput in, DiscoveryNode node) throws IOException {
    super(in, node);
    samples = in.readCollectionAsImmutableList(SampleStatus::new);
  }

  /** One status per codebook. */
  public List<SampleStatus> samples() {
    return samples;
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeCollection(samples);
  }
}
