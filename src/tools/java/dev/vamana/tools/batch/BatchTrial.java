package dev.vamana.tools.batch;

import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.gpu.node.ThreadTimes;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Sends the same query vectors to one index of a running node with several kinds of requests in
 * turns, and measures each kind.
 */
public final class BatchTrial {
  private static final String CLIENTS = "clients";

  private final RunningNode node;
  private final URI index;
  private final VectorSet set;

  /**
   * What to measure.
   *
   * @param vectors query vectors per request
   * @param k hits per query vector
   * @param candidates {@code num_candidates} per query vector
   * @param clients number of clients that send requests at the same time
   * @param rounds number of rounds; each kind of request has one turn per round
   * @param seconds length of a turn
   * @param kinds the kinds of requests
   */
  public record Plan(
      int vectors,
      int k,
      int candidates,
      int clients,
      int rounds,
      double seconds,
      List<Kind> kinds) {}

  /**
   * Results of one kind of request.
   *
   * @param kind the kind of request
   * @param recall mean recall@k, 0 to 1
   * @param speeds query vectors per second in each round
   * @param micros microseconds of each request, of all rounds
   * @param cpuMicros CPU microseconds per query vector: the node's by group of threads, and {@code
   *     clients} for the process that asks, which shares the machine with the node
   */
  public record Turn(
      Kind kind, double recall, double[] speeds, double[] micros, Map<String, Double> cpuMicros) {

    /** The median of the rounds' speeds. */
    public double median() {
      double[] sorted = speeds.clone();
      Arrays.sort(sorted);
      int middle = sorted.length / 2;
      return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
  }

  /**
   * Makes a trial on an index whose document ids are the base rows of the set.
   *
   * @param name name of the index
   */
  public BatchTrial(RunningNode node, String name, VectorSet set) {
    this.node = node;
    this.set = set;
    index = node.httpUri().resolve("/" + name + "/");
  }

  /** Runs a plan and returns one turn per kind of request, in the plan's order. */
  public List<Turn> run(Plan plan) throws IOException {
    Map<Kind, List<byte[]>> requests = new EnumMap<>(Kind.class);
    Map<Kind, Double> recalls = new EnumMap<>(Kind.class);
    Map<Kind, double[]> speeds = new EnumMap<>(Kind.class);
    Map<Kind, List<double[]>> micros = new EnumMap<>(Kind.class);
    List<Turn> turns = new ArrayList<>();
    try (Clients clients = new Clients(index, plan.clients())) {
      for (Kind kind : plan.kinds()) {
        requests.put(kind, requests(clients, plan, kind));
        recalls.put(kind, recall(clients, plan, kind, requests.get(kind)));
        speeds.put(kind, new double[plan.rounds()]);
        micros.put(kind, new ArrayList<>());
      }
      int kinds = plan.kinds().size();
      for (int round = -1; round < plan.rounds(); round++) {
        for (int turn = 0; turn < kinds; turn++) {
          Kind kind = plan.kinds().get((turn + Math.max(0, round)) % kinds);
          Clients.Answered answered = clients.send(requests.get(kind), plan.seconds());
          // round -1 warms up the node and is not counted
          if (round >= 0) {
            speeds.get(kind)[round] = answered.perSecond() * plan.vectors();
            micros.get(kind).add(answered.micros());
          }
        }
      }
      for (Kind kind : plan.kinds()) {
        ThreadTimes before = ThreadTimes.of(node);
        Duration own = processorTime();
        long vectors =
            (long) clients.send(requests.get(kind), plan.seconds()).micros().length
                * plan.vectors();
        own = processorTime().minus(own);
        Map<String, Double> cpu =
            new TreeMap<>(ThreadTimes.of(node).microsPerRequest(before, vectors));
        cpu.put(CLIENTS, own.toNanos() * 1e-3 / vectors);
        turns.add(
            new Turn(
                kind,
                recalls.get(kind),
                speeds.get(kind),
                micros.get(kind).stream().flatMapToDouble(Arrays::stream).toArray(),
                cpu));
      }
    }
    return turns;
  }

  private static Duration processorTime() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
  }

  /** Makes requests that together contain every query at least once. */
  private List<byte[]> requests(Clients clients, Plan plan, Kind kind) {
    float[][] queries = set.queries().rows();
    List<byte[]> requests = new ArrayList<>();
    for (int first = 0; first < queries.length; first += plan.vectors()) {
      float[][] vectors = new float[plan.vectors()][];
      for (int i = 0; i < vectors.length; i++) {
        vectors[i] = queries[(first + i) % queries.length];
      }
      requests.add(clients.request(kind, kind.body(vectors, plan.k(), plan.candidates())));
    }
    return requests;
  }

  private double recall(Clients clients, Plan plan, Kind kind, List<byte[]> requests)
      throws IOException {
    int queries = set.queries().size();
    Recall recall = new Recall(set, plan.k());
    long hits = 0;
    long wanted = 0;
    int query = 0;
    for (byte[] request : requests) {
      for (int[] ids : kind.ids(clients.ask(request))) {
        hits += recall.hits(query % queries, ids);
        wanted += plan.k();
        query++;
      }
    }
    return (double) hits / wanted;
  }
}
