package dev.vamana.tools.gpu.node;

import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Standard searches of one vector a request, by many clients: what {@link
 * dev.vamana.tools.batch.BatchTrial} compares batches with.
 *
 * @param recall recall@10 over all queries
 * @param requestsPerSecond median of the rounds
 * @param micros time of each request of all rounds
 * @param cpuMicros CPU microseconds of a request: the node's by group of threads, and {@code
 *     clients} for the process that asks
 */
public record SingleSearches(
    double recall, double requestsPerSecond, double[] micros, Map<String, Double> cpuMicros) {

  /**
   * Searches an index.
   *
   * @param candidates {@code num_candidates}
   * @param clients concurrent clients, each with a connection of its own
   * @param rounds measured rounds, after one that is not counted
   * @param seconds length of a round
   */
  public static SingleSearches run(
      RunningNode node, NodeIndex index, int candidates, int clients, int rounds, double seconds)
      throws IOException {
    RestClients all = new RestClients(node.httpUri(), clients);
    List<byte[]> requests = index.requests(candidates);
    double recall = index.recall(all, candidates);
    all.run(requests, seconds);
    double[] speeds = new double[rounds];
    RestClients.Answers sum = new RestClients.Answers(new double[0], 0);
    ThreadTimes before = ThreadTimes.of(node);
    double own = RestClients.processorMicros();
    for (int round = 0; round < rounds; round++) {
      RestClients.Answers answers = all.run(requests, seconds);
      speeds[round] = answers.requestsPerSecond();
      sum = sum.and(answers);
    }
    own = RestClients.processorMicros() - own;
    int count = sum.micros().length;
    Map<String, Double> cpu = new TreeMap<>(ThreadTimes.of(node).microsPerRequest(before, count));
    cpu.put("clients", own / count);
    Arrays.sort(speeds);
    return new SingleSearches(recall, speeds[rounds / 2], sum.micros(), cpu);
  }
}
