package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.nodes.NodeRows;
import dev.vamana.elasticsearch.codebook.nodes.NodeSamples;
import dev.vamana.elasticsearch.codebook.nodes.NodesDone;
import dev.vamana.elasticsearch.codebook.nodes.RowsRequest;
import dev.vamana.elasticsearch.codebook.nodes.SamplesRequest;
import dev.vamana.elasticsearch.codebook.nodes.TransportRowsAction;
import dev.vamana.elasticsearch.codebook.nodes.TransportSamplesAction;
import dev.vamana.elasticsearch.codebook.sample.SampleMemory;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import dev.vamana.elasticsearch.codebook.sample.Seeds;
import dev.vamana.elasticsearch.codebook.store.CodebookIndex;
import java.util.ArrayList;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.OriginSettingClient;

/**
 * Combines the nodes' samples of one codebook to one sample. Each node contributes in proportion to
 * the vectors it has seen, so that every vector is in the sample with the same probability.
 */
final class MergedSamples implements VectorSource {
  private static final long PAGE_BYTES = 8 << 20;

  private final Client client;
  private final String name;
  private final SampleOptions options;

  MergedSamples(Client client, String name, SampleOptions options) {
    this.client = new OriginSettingClient(client, CodebookIndex.ORIGIN);
    this.name = name;
    this.options = options;
  }

  /** One node's sample. */
  private record Part(String node, SampleStatus status) {}

  /** Sums up the vectors that all nodes have seen. A node that does not answer counts as 0. */
  void seen(ActionListener<Long> listener) {
    parts(
        listener.map(
            parts -> {
              long sum = 0;
              for (Part part : parts) {
                sum += part.status().seen();
              }
              return sum;
            }));
  }

  private void parts(ActionListener<List<Part>> listener) {
    client.execute(
        TransportSamplesAction.TYPE, new SamplesRequest(), listener.map(this::ofThisCodebook));
  }

  private List<Part> ofThisCodebook(NodesDone<NodeSamples> answers) {
    List<Part> parts = new ArrayList<>();
    for (NodeSamples node : answers.getNodes()) {
      for (SampleStatus status : node.samples()) {
        if (status.name().equals(name) && status.options().equals(options) && status.seen() > 0) {
          parts.add(new Part(node.getNode().getId(), status));
        }
      }
    }
    return parts;
  }

  @Override
  public void draw(int most, SampleMemory.Rows memory, ActionListener<Drawn> listener) {
    parts(
        listener.delegateFailureAndWrap(
            (l, parts) -> {
              long[] seen = parts.stream().mapToLong(part -> part.status().seen()).toArray();
              long[] held = parts.stream().mapToLong(part -> part.status().held()).toArray();
              int[] shares = shares(most, seen, held);
              long sum = 0;
              for (long value : seen) {
                sum += value;
              }
              Drawn drawn = new Drawn(new ArrayList<>(), sum);
              new Reading(parts, shares, Seeds.next(), memory, drawn).from(0, 0, l);
            }));
  }

  /**
   * Computes how many vectors each node contributes.
   *
   * @param most most vectors in all
   * @param seen vectors that each node has seen, above 0
   * @param held vectors in each node's sample
   * @return numbers in proportion to {@code seen}, none above {@code held}
   */
  static int[] shares(int most, long[] seen, long[] held) {
    double sum = 0;
    for (long value : seen) {
      sum += value;
    }
    // if a node holds less than its share, all others contribute less, too
    double total = Math.min(most, sum);
    for (int i = 0; i < seen.length; i++) {
      total = Math.min(total, held[i] * (sum / seen[i]));
    }
    int[] shares = new int[seen.length];
    for (int i = 0; i < seen.length; i++) {
      shares[i] = (int) Math.min(held[i], Math.round(total * (seen[i] / sum)));
    }
    return shares;
  }

  /** Reads each node's share of rows, page by page. */
  private final class Reading {
    private final List<Part> parts;
    private final int[] shares;
    private final long seed;
    private final SampleMemory.Rows memory;
    private final Drawn drawn;

    Reading(List<Part> parts, int[] shares, long seed, SampleMemory.Rows memory, Drawn drawn) {
      this.parts = parts;
      this.shares = shares;
      this.seed = seed;
      this.memory = memory;
      this.drawn = drawn;
    }

    void from(int at, int from, ActionListener<Drawn> listener) {
      if (at == parts.size()) {
        listener.onResponse(drawn);
        return;
      }
      if (from >= shares[at]) {
        from(at + 1, 0, listener);
        return;
      }
      int page = (int) Math.max(1, PAGE_BYTES / (Float.BYTES * (long) options.space().dims()));
      int to = Math.min(shares[at], from + page);
      client.execute(
          TransportRowsAction.TYPE,
          new RowsRequest(parts.get(at).node(), name, options, seed, from, to),
          listener.delegateFailureAndWrap(
              (l, answer) -> {
                if (answer.hasFailures()) {
                  throw answer.failures().get(0);
                }
                for (NodeRows node : answer.getNodes()) {
                  memory.add(node.rows().size());
                  drawn.rows().addAll(node.rows());
                }
                from(at, to, l);
              }));
    }
  }
}
