package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.nodes.NodeSamples;
import dev.vamana.elasticsearch.codebook.nodes.SamplesRequest;
import dev.vamana.elasticsearch.codebook.nodes.TransportSamplesAction;
import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import java.util.Map;
import java.util.TreeMap;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.client.internal.Client;

/** Sums up the samples of all nodes. */
final class Samplings {
  private Samplings() {}

  /**
   * Collects the state of each codebook's sample, by name.
   *
   * @param client a client that may ask nodes for samples
   */
  static void of(Client client, ActionListener<Map<String, SampleStatus>> listener) {
    client.execute(
        TransportSamplesAction.TYPE,
        new SamplesRequest(),
        listener.map(
            nodes -> {
              Map<String, SampleStatus> all = new TreeMap<>();
              for (NodeSamples node : nodes.getNodes()) {
                node.samples().forEach(s -> all.merge(s.name(), s, SampleStatus::plus));
              }
              return all;
            }));
  }
}
