package dev.vamana.tools.gpu.node;

import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Standard searches of one vector a request, by many clients: what {@link
 * dev.vamana.tools.batch.BatchTrial} compares batches with.
 *
 * @param recall recall@10 over all queries
 * @param rounds requests a second of each round
 * @param micros time of each request of all rounds
 * @param cpuMicros CPU microseconds of a request: the node's by group of threads, and {@code
 *     clients} for the process that asks
 * @param answered what the node's GPU counted meanwhile, for instance {@code launches}
 */
public record SingleSearches(
    double recall,
    double[] rounds,
    double[] micros,
    Map<String, Double> cpuMicros,
    Map<String, Map<String, Long>> answered) {

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
    return inTurns(List.of(node), List.of(index), candidates, clients, rounds, seconds).get(0);
  }

  /**
   * Searches the indices of several nodes, which run at the same time, in turns: each round asks
   * one node after the other, and begins with another.
   *
   * @see #run
   */
  public static List<SingleSearches> inTurns(
      List<RunningNode> nodes,
      List<NodeIndex> indices,
      int candidates,
      int clients,
      int rounds,
      double seconds)
      throws IOException {
    List<Asked> all = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      all.add(new Asked(nodes.get(i), indices.get(i), candidates, clients, rounds, seconds));
    }
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < all.size(); i++) {
        all.get((i + round) % all.size()).round(round);
      }
    }
    List<SingleSearches> found = new ArrayList<>();
    for (Asked asked : all) {
      found.add(asked.found());
    }
    return found;
  }

  /** Median of the rounds. */
  public double requestsPerSecond() {
    double[] sorted = rounds.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** A node while it is asked. */
  private static final class Asked {
    private final RunningNode node;
    private final RestClients clients;
    private final List<byte[]> requests;
    private final double seconds;
    private final double recall;
    private final double[] speeds;
    private final ThreadTimes before;
    private final GpuCounters counted;
    private RestClients.Answers sum = new RestClients.Answers(new double[0], 0);
    private double own;

    Asked(RunningNode node, NodeIndex index, int candidates, int count, int rounds, double seconds)
        throws IOException {
      this.node = node;
      this.seconds = seconds;
      clients = new RestClients(node.httpUri(), count);
      requests = index.requests(candidates);
      recall = index.recall(clients, candidates);
      clients.run(requests, seconds);
      speeds = new double[rounds];
      before = ThreadTimes.of(node);
      counted = GpuCounters.of(node);
    }

    void round(int number) throws IOException {
      double start = ProcessorTime.micros();
      RestClients.Answers answers = clients.run(requests, seconds);
      own += ProcessorTime.micros() - start;
      speeds[number] = answers.requestsPerSecond();
      sum = sum.and(answers);
    }

    SingleSearches found() throws IOException {
      int count = sum.micros().length;
      Map<String, Double> cpu = new TreeMap<>(ThreadTimes.of(node).microsPerRequest(before, count));
      cpu.put("clients", own / count);
      return new SingleSearches(
          recall, speeds, sum.micros(), cpu, GpuCounters.of(node).since(counted));
    }
  }
}
