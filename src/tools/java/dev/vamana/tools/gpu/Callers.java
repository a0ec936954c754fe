package dev.vamana.tools.gpu;

import dev.vamana.search.SearchExecutor;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Threads that call an executor at the same time, each again after its answer. */
final class Callers {

  private static final int MIN_SAMPLES = 5;
  private static final int MAX_SAMPLES = 5_000;

  private Callers() {}

  /**
   * Times calls.
   *
   * @param calls asked in turn, each caller begins with another
   * @param seconds duration
   * @return nanoseconds of each call of all callers
   */
  static double[] time(
      SearchExecutor executor, List<List<WorkItem>> calls, int callers, double seconds)
      throws IOException {
    ExecutorService pool = Executors.newFixedThreadPool(callers);
    try {
      List<Future<List<Double>>> running = new ArrayList<>();
      long end = System.nanoTime() + (long) (seconds * 1e9);
      for (int caller = 0; caller < callers; caller++) {
        int first = caller;
        Callable<List<Double>> task =
            () -> {
              List<Double> samples = new ArrayList<>();
              int call = first;
              while (samples.size() < MIN_SAMPLES
                  || (samples.size() < MAX_SAMPLES && System.nanoTime() < end)) {
                long start = System.nanoTime();
                executor.search(calls.get(call++ % calls.size()));
                samples.add((double) (System.nanoTime() - start));
              }
              return samples;
            };
        running.add(pool.submit(task));
      }
      List<Double> all = new ArrayList<>();
      for (Future<List<Double>> samples : running) {
        all.addAll(samples.get());
      }
      return all.stream().mapToDouble(Double::doubleValue).toArray();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } catch (ExecutionException e) {
      throw new IOException("a search failed", e);
    } finally {
      pool.shutdownNow();
    }
  }
}
