package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.ingest.Ingest;
import dev.vamana.elasticsearch.codebook.nodes.NodeSamples;
import dev.vamana.elasticsearch.codebook.nodes.SamplesRequest;
import dev.vamana.elasticsearch.codebook.nodes.TransportSamplesAction;
import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import java.util.Map;
import java.util.TreeMap;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.cluster.ClusterState;

/** Sums up the samples of all nodes. */
final class Samplings {
  private Samplings() {}

  /**
   * Collects the state of each codebook's sample, by name. A codebook that pipelines feed, but that
   * has no sample yet, has an empty one.
   *
   * @param client a client that may ask nodes for samples
   */
  static void of(
      Client client, ClusterState state, ActionListener<Map<String, SampleStatus>> listener) {
    client.execute(
        TransportSamplesAction.TYPE,
        new SamplesRequest(),
        listener.map(
            nodes -> {
              Map<String, SampleStatus> all = new TreeMap<>();
              for (NodeSamples node : nodes.getNodes()) {
                node.samples().forEach(s -> all.merge(s.name(), s, SampleStatus::plus));
              }
              Ingest.fed(state)
                  .forEach(
                      (name, options) ->
                          all.computeIfAbsent(
                              name,
                              key ->
                                  new SampleStatus(
                                      key, options.iterator().next(), 0, 0, 0, 0, 0, 0, 0, 0)));
              return all;
            }));
  }
}
