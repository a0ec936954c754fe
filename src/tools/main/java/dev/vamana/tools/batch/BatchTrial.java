package dev.vamana.tools.batch;

import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.cells.RestClients;
import dev.vamana.tools.cells.RestConnection;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;

/**
 * Sends the same query vectors to one index of a running node with several kinds of requests in
 * turns, and measures each kind.
 */
public final class BatchTrial {
  private final URI node;
  private final String index;
  private final VectorSet set;

  /**
   * Plan of a measurement.
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
   * @param recall mean recall@k, 0 to 1
   * @param speeds query vectors per second in each round
   * @param micros microseconds of each request, of all rounds
   */
  public record Turn(Kind kind, double recall, double[] speeds, double[] micros) {}

  /**
   * Makes a trial on an index whose document ids are the base rows of the set.
   *
   * @param name name of the index
   */
  public BatchTrial(RunningNode node, String name, VectorSet set) {
    this.node = node.httpUri();
    this.set = set;
    index = name;
  }

  /** Runs a plan and returns one turn per kind of request, in the plan's order. */
  public List<Turn> run(Plan plan) throws IOException {
    RestClients clients = new RestClients(node, plan.clients());
    int kinds = plan.kinds().size();
    List<List<byte[]>> requests = new ArrayList<>();
    List<Turn> turns = new ArrayList<>();
    for (Kind kind : plan.kinds()) {
      requests.add(requests(plan, kind));
      double recall = recall(plan, kind, clients.askAll(requests.get(requests.size() - 1)));
      turns.add(new Turn(kind, recall, new double[plan.rounds()], new double[0]));
    }
    // the first round warms up the node and is not counted
    for (int round = -1; round < plan.rounds(); round++) {
      for (int i = 0; i < kinds; i++) {
        int at = Math.floorMod(i + round, kinds);
        Turn turn = turns.get(at);
        Callers.Times times = clients.run(requests.get(at), plan.seconds());
        if (round >= 0) {
          turn.speeds()[round] = times.perSecond() * plan.vectors();
          double[] micros =
              DoubleStream.concat(Arrays.stream(turn.micros()), Arrays.stream(times.micros()))
                  .toArray();
          turns.set(at, new Turn(turn.kind(), turn.recall(), turn.speeds(), micros));
        }
      }
    }
    return turns;
  }

  /** Makes requests that together contain every query at least once. */
  private List<byte[]> requests(Plan plan, Kind kind) {
    float[][] queries = set.queries().rows();
    List<byte[]> requests = new ArrayList<>();
    for (int first = 0; first < queries.length; first += plan.vectors()) {
      float[][] vectors = new float[plan.vectors()][];
      for (int i = 0; i < vectors.length; i++) {
        vectors[i] = queries[(first + i) % queries.length];
      }
      byte[] body = kind.body(vectors, plan.k(), plan.candidates());
      String path = "/" + index + "/" + kind.endpoint();
      requests.add(RestConnection.post(node, path, kind.contentType(), body));
    }
    return requests;
  }

  private double recall(Plan plan, Kind kind, List<String> answers) {
    int queries = set.queries().size();
    Recall recall = new Recall(set, plan.k());
    long hits = 0;
    int query = 0;
    for (String answer : answers) {
      for (int[] ids : kind.ids(answer)) {
        hits += recall.hits(query % queries, ids);
        query++;
      }
    }
    return (double) hits / ((long) query * plan.k());
  }
}
