package dev.vamana.tools.gpu.node;

import dev.vamana.tools.datasets.ExactSearch;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Lets a node find and write the neighbours of every document of an index, and compares what it
 * wrote for some documents with their exact neighbours.
 */
public final class NeighborsTrial {

  /** Neighbours of a document. */
  public static final int K = 10;

  private static final int COMPARED = 1_000;
  private static final long SEED = 20_261_127;
  private static final String DEST = "measured-neighbors";

  private final RunningNode node;
  private final String index;
  private final VectorSet set;
  private final int[] compared;
  private final float[] farthest;

  /**
   * Finds the exact neighbours of some documents.
   *
   * @param index an index of the node that holds the set's vectors; a document's id is its ordinal
   */
  public NeighborsTrial(RunningNode node, String index, VectorSet set) {
    this.node = node;
    this.index = index;
    this.set = set;
    float[][] base = set.base().rows();
    compared =
        new SplittableRandom(SEED)
            .ints(0, base.length)
            .distinct()
            .limit(Math.min(COMPARED, base.length))
            .toArray();
    float[][] vectors = Arrays.stream(compared).mapToObj(i -> base[i]).toArray(float[][]::new);
    float[][] distances = ExactSearch.groundTruth(set.metric(), base, vectors, K + 1).distances();
    farthest = new float[compared.length];
    for (int i = 0; i < compared.length; i++) {
      farthest[i] = distances[i][K];
    }
  }

  /**
   * How documents are searched.
   *
   * @param numCandidates width of a search
   * @param batch documents that are searched together
   * @param slices slices that run side by side
   */
  public record Load(int numCandidates, int batch, int slices) {}

  /**
   * What a run took.
   *
   * @param seconds time of the request, the refresh at its end included
   * @param cpuMicros processor time of the node for a document, by group of threads
   * @param answered who answered, as counted by {@code _vamana/nodes/stats}
   */
  public record Run(
      double seconds, Map<String, Double> cpuMicros, Map<String, Map<String, Long>> answered) {}

  /**
   * Runs once over all documents, into a new index.
   *
   * @throws IllegalStateException if the run does not write every document
   */
  public Run run(Load load) throws IOException {
    NodeClient client = node.client();
    client.delete("/" + DEST + "?ignore_unavailable=true");
    client.put(
        "/" + DEST,
        """
        {"settings": {"index.number_of_shards": 1, "index.number_of_replicas": 0},
         "mappings": {"properties": {"neighbors": {"properties": {"ids": {"type": "keyword"},
           "scores": {"type": "float", "index": false, "doc_values": false}}}}}}
        """);
    GpuCounters counters = GpuCounters.of(node);
    ThreadTimes before = ThreadTimes.of(node);
    long start = System.nanoTime();
    Map<String, Object> answer =
        client.post(
            "/" + index + "/_vamana/neighbors?refresh=true",
            String.format(
                Locale.ROOT,
                """
                {"field": "%s", "k": %d, "num_candidates": %d, "batch_size": %d, "slices": %d,
                 "dest": {"index": "%s"}}
                """,
                KnnIndex.FIELD,
                K,
                load.numCandidates(),
                load.batch(),
                load.slices(),
                DEST));
    double seconds = (System.nanoTime() - start) / 1e9;
    int documents = set.base().size();
    if (Integer.valueOf(documents).equals(answer.get("created")) == false) {
      throw new IllegalStateException("of " + documents + " documents a run wrote " + answer);
    }
    return new Run(
        seconds,
        ThreadTimes.of(node).microsPerRequest(before, documents),
        GpuCounters.of(node).since(counters));
  }

  /**
   * Returns the share of the {@value #K} exact neighbours of the compared documents that the last
   * run has written. A document as near as the last exact neighbour counts as one.
   */
  public double overlap() throws IOException {
    List<String> ids = new ArrayList<>();
    for (int document : compared) {
      ids.add("\"" + document + "\"");
    }
    Map<String, Object> answer =
        node.client().post("/" + DEST + "/_mget", "{\"ids\": [" + String.join(",", ids) + "]}");
    long found = 0;
    for (int i = 0; i < compared.length; i++) {
      Object written = NodeClient.at(answer, "docs", i, "_source", "neighbors", "ids");
      found += found(i, (List<?>) written);
    }
    return found / (double) (K * compared.length);
  }

  private int found(int row, List<?> written) {
    float[][] base = set.base().rows();
    int document = compared[row];
    Set<Integer> found = new HashSet<>();
    for (Object id : written) {
      int neighbor = Integer.parseInt((String) id);
      double distance = set.metric().distance(base[document], base[neighbor]);
      if (neighbor != document && (float) distance <= farthest[row]) {
        found.add(neighbor);
      }
    }
    return Math.min(K, found.size());
  }
}
