package dev.vamana.tools.gpu.node;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Concurrent clients of one node, each of which sends its next request when it has the answer to
 * the last one.
 */
final class RestClients {

  private final URI node;
  private final int clients;

  RestClients(URI node, int clients) {
    this.node = node;
    this.clients = clients;
  }

  /**
   * The clients' measurements.
   *
   * @param micros time of each request, unordered
   * @param seconds wall time
   */
  record Answers(double[] micros, double seconds) {

    double requestsPerSecond() {
      return micros.length / seconds;
    }

    /** Returns both measurements joined. */
    Answers and(Answers other) {
      double[] all = Arrays.copyOf(micros, micros.length + other.micros.length);
      System.arraycopy(other.micros, 0, all, micros.length, other.micros.length);
      return new Answers(all, seconds + other.seconds);
    }
  }

  /** Sends each request once and returns the answers in order. */
  List<byte[]> askAll(List<byte[]> requests) throws IOException {
    byte[][] answers = new byte[requests.size()][];
    AtomicInteger next = new AtomicInteger();
    together(
        client -> {
          try (RestConnection connection = new RestConnection(node)) {
            for (int i = next.getAndIncrement(); i < answers.length; i = next.getAndIncrement()) {
              answers[i] = connection.send(requests.get(i));
            }
          }
          return null;
        });
    return List.of(answers);
  }

  /**
   * Sends requests for a duration, repeating them when all have been sent. Each client sends at
   * least one, however late its thread starts.
   *
   * @param seconds time after which no client sends another request
   */
  Answers run(List<byte[]> requests, double seconds) throws IOException {
    long start = System.nanoTime();
    long deadline = start + (long) (seconds * 1e9);
    List<double[]> each =
        together(
            client -> {
              int first = (int) ((long) client * requests.size() / clients);
              return until(deadline, requests, first);
            });
    double wall = (System.nanoTime() - start) / 1e9;
    return new Answers(each.stream().flatMapToDouble(Arrays::stream).toArray(), wall);
  }

  private double[] until(long deadline, List<byte[]> requests, int first) throws IOException {
    double[] micros = new double[1024];
    int count = 0;
    try (RestConnection connection = new RestConnection(node)) {
      long before = System.nanoTime();
      do {
        connection.send(requests.get((first + count) % requests.size()));
        long after = System.nanoTime();
        if (count == micros.length) {
          micros = Arrays.copyOf(micros, 2 * count);
        }
        micros[count++] = (after - before) / 1e3;
        before = after;
      } while (before < deadline);
    }
    return Arrays.copyOf(micros, count);
  }

  @FunctionalInterface
  private interface Client<T> {
    T run(int number) throws IOException;
  }

  private <T> List<T> together(Client<T> client) throws IOException {
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    try {
      List<Callable<T>> tasks = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        int number = i;
        tasks.add(() -> client.run(number));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> task : threads.invokeAll(tasks)) {
        results.add(task.get());
      }
      return results;
    } catch (ExecutionException e) {
      throw new IOException("a client failed: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while clients were running", e);
    } finally {
      threads.shutdownNow();
    }
  }
}
