package dev.vamana.tools.batch;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Simulates a number of clients of one index; each sends its next request when it has the answer to
 * its last.
 */
final class Clients implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
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

  /** Sends one request and returns the answer. */
  String ask(Kind kind, byte[] body) throws IOException {
    return new String(send(kind, body), StandardCharsets.UTF_8);
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
   * @param bodies request bodies, sent in order and repeated from the start
   */
  Answered send(Kind kind, List<byte[]> bodies, double seconds) throws IOException {
    long start = System.nanoTime();
    long deadline = start + (long) (seconds * 1e9);
    List<Future<List<Double>>> running = new ArrayList<>();
    for (int client = 0; client < clients; client++) {
      int first = client;
      running.add(
          threads.submit(
              () -> {
                List<Double> own = new ArrayList<>();
                long last = System.nanoTime();
                do {
                  send(kind, bodies.get((first + own.size()) % bodies.size()));
                  long now = System.nanoTime();
                  own.add((now - last) * 1e-3);
                  last = now;
                } while (last < deadline);
                return own;
              }));
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

  private byte[] send(Kind kind, byte[] body) throws IOException {
    HttpRequest request =
        HttpRequest.newBuilder(index.resolve(kind.endpoint()))
            .timeout(TIMEOUT)
            .header("Content-Type", kind.contentType())
            .POST(BodyPublishers.ofByteArray(body))
            .build();
    HttpResponse<byte[]> response;
    try {
      response = http.send(request, BodyHandlers.ofByteArray());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for an answer", e);
    }
    if (response.statusCode() != 200) {
      String answer = new String(response.body(), StandardCharsets.UTF_8);
      throw new IOException(
          kind.label()
              + " answered "
              + response.statusCode()
              + ": "
              + answer.substring(0, Math.min(2000, answer.length())));
    }
    return response.body();
  }

  @Override
  public void close() {
    threads.shutdownNow();
    http.shutdownNow();
  }
}
