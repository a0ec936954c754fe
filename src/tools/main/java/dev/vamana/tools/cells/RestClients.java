package dev.vamana.tools.cells;

import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Concurrent clients of one node, each with a connection of its own.
 *
 * @param node address of the node
 * @param clients number of clients
 */
public record RestClients(URI node, int clients) {

  /** Hits of every query. */
  public static final int K = 10;

  /** Sends each request once, and returns the answers in order. */
  public List<String> askAll(List<byte[]> requests) throws IOException {
    String[] answers = new String[requests.size()];
    Callers.together(
        Math.min(clients, answers.length),
        client -> {
          try (RestConnection connection = new RestConnection(node)) {
            for (int i = client; i < answers.length; i += clients) {
              answers[i] = new String(connection.send(requests.get(i)), StandardCharsets.UTF_8);
            }
          }
          return null;
        });
    return List.of(answers);
  }

  /**
   * Sends requests for a time, repeating them when all have been sent.
   *
   * @param seconds time after which no client sends another request
   */
  public Callers.Times run(List<byte[]> requests, double seconds) throws IOException {
    return Callers.loop(clients, seconds, 1, client -> caller(requests, client));
  }

  private Callers.Caller caller(List<byte[]> requests, int client) throws IOException {
    RestConnection connection = new RestConnection(node);
    int first = (int) ((long) client * requests.size() / clients);
    return new Callers.Caller() {
      @Override
      public void call(int number) throws IOException {
        connection.sendAndForget(requests.get((first + number) % requests.size()));
      }

      @Override
      public void close() throws IOException {
        connection.close();
      }
    };
  }

  /** Returns the set's queries as searches of an index. */
  public List<byte[]> searches(String index, VectorSet set, int numCandidates) {
    List<byte[]> requests = new ArrayList<>();
    for (float[] query : set.queries().rows()) {
      requests.add(
          RestConnection.post(
              node, "/" + index + "/_search", KnnIndex.query(query, K, numCandidates)));
    }
    return requests;
  }

  /** Returns recall@10 over all queries. */
  public double recall(String index, VectorSet set, int numCandidates) throws IOException {
    return new Recall(set, K)
        .of(
            askAll(searches(index, set, numCandidates)).stream()
                .map(KnnIndex::ids)
                .toArray(int[][]::new));
  }
}
