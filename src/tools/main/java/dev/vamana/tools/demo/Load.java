package dev.vamana.tools.demo;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Keeps an index busy with a fixed number of clients, each of which sends its next query when it
 * has the answer to the last.
 */
public final class Load {

  private final List<String> queries;

  /**
   * A load of the given search requests, asked again from the start when they are through.
   *
   * @param queries made by {@link KnnIndex#query}
   */
  public Load(List<String> queries) {
    this.queries = List.copyOf(queries);
  }

  /** A client's access to an index over some kind of connection. Safe for several threads. */
  @FunctionalInterface
  public interface Searches {

    /** Sends a search request and waits for the answer. */
    void ask(String query) throws IOException;
  }

  /**
   * Measurements of one index.
   *
   * @param latencies of single requests
   * @param seconds wall time
   */
  public record Result(Latencies latencies, double seconds) {

    /** Throughput of all clients together. */
    public double queriesPerSecond() {
      return latencies.size() / seconds;
    }

    /** Both measurements together. */
    public Result and(Result other) {
      Latencies all = new Latencies();
      all.addAll(latencies);
      all.addAll(other.latencies);
      return new Result(all, seconds + other.seconds);
    }
  }

  /**
   * Asks for some time.
   *
   * @param clients number of clients at the same time
   * @param seconds time after which no client sends another query
   */
  public Result run(Searches index, int clients, double seconds) throws IOException {
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    try {
      long start = System.nanoTime();
      long deadline = start + (long) (seconds * 1e9);
      List<Future<Latencies>> running = new ArrayList<>();
      for (int client = 0; client < clients; client++) {
        int first = (int) ((long) client * queries.size() / clients);
        running.add(threads.submit(() -> client(index, first, deadline)));
      }
      Latencies all = new Latencies();
      for (Future<Latencies> client : running) {
        all.addAll(client.get());
      }
      return new Result(all, (System.nanoTime() - start) / 1e9);
    } catch (ExecutionException e) {
      throw new IOException("a client failed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while clients were running", e);
    } finally {
      threads.shutdownNow();
    }
  }

  private Latencies client(Searches index, int first, long deadline) throws IOException {
    Latencies latencies = new Latencies();
    long before = System.nanoTime();
    for (int i = first; before < deadline; i++) {
      index.ask(queries.get(i % queries.size()));
      long after = System.nanoTime();
      latencies.add(after - before);
      before = after;
    }
    return latencies;
  }
}
