package dev.vamana.tools.batch;

import dev.vamana.tools.gpu.node.RestConnection;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Simulates a number of clients of one index; each sends its next request when it has the answer to
 * its last. They do the minimum of work, since they share the machine with the node: requests are
 * prepared, and answers of measured requests are read and forgotten.
 */
final class Clients implements AutoCloseable {
  private final ExecutorService threads;
  private final URI index;
  private final int clients;

  /**
   * Makes clients of an index.
   *
   * @param index address of the index, with a slash at the end
   */
  Clients(URI index, int clients) {
    this.index = index;
    this.clients = clients;
    threads = Executors.newFixedThreadPool(clients);
  }

  /** Makes a request, which can be sent any number of times. */
  byte[] request(Kind kind, byte[] body) {
    URI endpoint = index.resolve(kind.endpoint());
    return RestConnection.post(endpoint, endpoint.getPath(), kind.contentType(), body);
  }

  /** Sends one request and returns the answer. */
  String ask(byte[] request) throws IOException {
    try (RestConnection connection = new RestConnection(index)) {
      return new String(connection.send(request), StandardCharsets.UTF_8);
    }
  }

  /**
   * Requests that were answered.
   *
   * @param micros microseconds of each request
   * @param seconds from the first request to the last answer
   */
  record Answered(double[] micros, double seconds) {
    double perSecond() {
      return micros.length / seconds;
    }
  }

  /**
   * Sends the same requests for some time.
   *
   * @param requests sent in order and repeated from the start
   */
  Answered send(List<byte[]> requests, double seconds) throws IOException {
    long start = System.nanoTime();
    long deadline = start + (long) (seconds * 1e9);
    List<Future<List<Double>>> running = new ArrayList<>();
    for (int client = 0; client < clients; client++) {
      int first = client;
      running.add(threads.submit(() -> until(deadline, requests, first)));
    }
    List<Double> micros = new ArrayList<>();
    try {
      for (Future<List<Double>> client : running) {
        micros.addAll(client.get());
      }
    } catch (ExecutionException e) {
      throw new IOException("a client failed: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while clients were running", e);
    }
    return new Answered(
        micros.stream().mapToDouble(Double::doubleValue).toArray(),
        (System.nanoTime() - start) * 1e-9);
  }

  private List<Double> until(long deadline, List<byte[]> requests, int first) throws IOException {
    List<Double> micros = new ArrayList<>();
    try (RestConnection connection = new RestConnection(index)) {
      long last = System.nanoTime();
      do {
        connection.sendAndForget(requests.get((first + micros.size()) % requests.size()));
        long now = System.nanoTime();
        micros.add((now - last) * 1e-3);
        last = now;
      } while (last < deadline);
    }
    return micros;
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
