package dev.vamana.tools.callers;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.DoubleStream;

/** Runs callers side by side. Each makes its next call when the last one has returned. */
public final class Callers {

  private Callers() {}

  /** A caller with whatever it needs, for instance a connection. */
  @FunctionalInterface
  public interface Caller extends Closeable {
    /**
     * Makes a call.
     *
     * @param number of this caller's call, from 0
     */
    void call(int number) throws IOException;

    @Override
    default void close() throws IOException {}
  }

  /** Opens callers. */
  @FunctionalInterface
  public interface Opener {
    /**
     * Opens a caller on its own thread.
     *
     * @param caller its number, from 0
     */
    Caller open(int caller) throws IOException;
  }

  /**
   * The times of calls.
   *
   * @param micros time of each call, by caller
   * @param seconds from the first call to the end of the last one
   */
  public record Times(double[] micros, double seconds) {

    /** Returns calls a second of all callers. */
    public double perSecond() {
      return micros.length / seconds;
    }

    /** Returns both measurements as one. */
    public Times and(Times other) {
      return new Times(
          DoubleStream.concat(Arrays.stream(micros), Arrays.stream(other.micros)).toArray(),
          seconds + other.seconds);
    }

    /**
     * Returns a quantile of the times.
     *
     * @param share 0 to 1
     */
    public double quantile(double share) {
      double[] sorted = micros.clone();
      Arrays.sort(sorted);
      return sorted[(int) Math.min(sorted.length - 1L, (long) (share * sorted.length))];
    }
  }

  /**
   * Calls for a time. All callers are open before the first of them calls.
   *
   * @param callers their number
   * @param seconds after which no caller begins another call
   * @param least calls that every caller makes, however long they take
   */
  public static Times loop(int callers, double seconds, int least, Opener opener)
      throws IOException {
    CyclicBarrier open = new CyclicBarrier(callers);
    long[] starts = new long[callers];
    long[] ends = new long[callers];
    List<double[]> micros =
        together(
            callers,
            id -> {
              try (Caller caller = opener.open(id)) {
                open.await();
                double[] own = new double[1024];
                int count = 0;
                starts[id] = System.nanoTime();
                long end = starts[id] + (long) (seconds * 1e9);
                long last = starts[id];
                while (last < end || count < least) {
                  caller.call(count);
                  long now = System.nanoTime();
                  if (count == own.length) {
                    own = Arrays.copyOf(own, 2 * count);
                  }
                  own[count++] = (now - last) * 1e-3;
                  last = now;
                }
                ends[id] = last;
                return Arrays.copyOf(own, count);
              } catch (IOException | RuntimeException e) {
                // others do not wait for this caller
                open.reset();
                throw e;
              }
            });
    double wall =
        (Arrays.stream(ends).max().orElseThrow() - Arrays.stream(starts).min().orElseThrow())
            * 1e-9;
    return new Times(micros.stream().flatMapToDouble(Arrays::stream).toArray(), wall);
  }

  /** The work of a thread. */
  @FunctionalInterface
  public interface Work<T> {
    /** Does the work of one thread. */
    T run(int number) throws Exception;
  }

  /**
   * Runs so many threads, and returns their results.
   *
   * @throws IOException if one failed, which is its cause, or this thread was interrupted
   */
  public static <T> List<T> together(int threads, Work<T> work) throws IOException {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<T>> tasks = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int number = i;
        tasks.add(() -> work.run(number));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> task : pool.invokeAll(tasks)) {
        results.add(task.get());
      }
      return results;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while callers were running", e);
    } catch (ExecutionException e) {
      throw new IOException("a caller failed: " + e.getCause(), e.getCause());
    } finally {
      pool.shutdownNow();
    }
  }
}
