package dev.vamana.work;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.search.TaskExecutor;

/**
 * Runs loops on the calling thread and on up to {@code threads - 1} threads of an executor, which
 * other builds may share. The calling thread always makes progress by itself, so a busy executor
 * slows a build down but never blocks it.
 */
public final class Workers {

  /** Indices of a range of {@link #forEachRange}. */
  public static final int RANGE = 64;

  private final Executor executor;
  private final TaskExecutor tasks;
  private final int threads;

  /**
   * Makes workers on an executor.
   *
   * @param executor runs the helping threads; may be shared and may be busy
   * @param threads most threads of one loop including the calling one, at least 1
   */
  public Workers(Executor executor, int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads must be at least 1, got " + threads);
    }
    this.executor = executor;
    this.tasks = new TaskExecutor(executor);
    this.threads = threads;
  }

  /** Workers that use only the calling thread. */
  public static Workers callingThread() {
    return new Workers(Runnable::run, 1);
  }

  /** Most threads of one loop, including the calling one. */
  public int threads() {
    return threads;
  }

  /** The executor that runs the helping threads. */
  public Executor executor() {
    return executor;
  }

  /** Work that several threads run at once. */
  @FunctionalInterface
  public interface Task {
    /** Does this thread's part. */
    void run() throws IOException;
  }

  /**
   * Runs a task on the calling thread and, as far as they are free, on other threads at the same
   * time; returns when every run has ended. A thread that becomes free later starts its run then,
   * and the calling thread may run the task several times. After a failure no further run starts.
   * The task itself must share out the work among its runs.
   *
   * @param most runs, at least 1
   */
  public void together(int most, Task task) throws IOException {
    List<Callable<Void>> runs = new ArrayList<>();
    for (int i = 0; i < Math.min(threads, most); i++) {
      runs.add(
          () -> {
            task.run();
            return null;
          });
    }
    tasks.invokeAll(runs);
  }

  /** One thread's part of a parallel loop; owns that thread's scratch memory. */
  @FunctionalInterface
  public interface Body {
    /** Handles one index of the loop. */
    void run(int index) throws IOException;
  }

  /** Makes the body of each thread that takes part. */
  @FunctionalInterface
  public interface BodyFactory {
    /** Makes a body for the calling thread. */
    Body create() throws IOException;
  }

  /** One thread's part of a parallel loop over ranges; owns that thread's scratch memory. */
  @FunctionalInterface
  public interface RangeBody {
    /** Handles the indices {@code from <= index < to}, at least one. */
    void run(int from, int to) throws IOException;
  }

  /** Makes the body of each thread that takes part. */
  @FunctionalInterface
  public interface RangeBodyFactory {
    /** Makes a body for the calling thread. */
    RangeBody create() throws IOException;
  }

  /**
   * Runs a loop over {@code from <= index < to}, in ascending order if there is one thread. Each
   * thread calls the abort check once per {@value #RANGE} indices.
   */
  public void forEach(int from, int to, BodyFactory factory, AbortCheck abort) throws IOException {
    forEach(from, to, RANGE, factory, abort);
  }

  /**
   * Runs a loop over {@code from <= index < to}, in ascending order if there is one thread, for
   * indices that cost much each. Each thread calls the abort check once per {@code range} indices.
   *
   * @param range indices that a thread takes at once, at least 1
   */
  public void forEach(int from, int to, int range, BodyFactory factory, AbortCheck abort)
      throws IOException {
    forEachRange(
        from,
        to,
        range,
        () -> {
          Body body = factory.create();
          return (start, end) -> {
            for (int index = start; index < end; index++) {
              body.run(index);
            }
          };
        },
        abort);
  }

  /**
   * Runs a loop over {@code from <= index < to} in ranges of {@value #RANGE} indices, in ascending
   * order if there is one thread; the last range may be shorter. Each thread calls the abort check
   * once per range.
   */
  public void forEachRange(int from, int to, RangeBodyFactory factory, AbortCheck abort)
      throws IOException {
    forEachRange(from, to, RANGE, factory, abort);
  }

  private void forEachRange(int from, int to, int range, RangeBodyFactory factory, AbortCheck abort)
      throws IOException {
    int chunks = (int) (((long) to - from + range - 1) / range);
    AtomicInteger nextChunk = new AtomicInteger();
    together(
        chunks,
        () -> {
          RangeBody body = null;
          int chunk;
          while ((chunk = nextChunk.getAndIncrement()) < chunks) {
            abort.check();
            if (body == null) {
              body = factory.create();
            }
            int start = from + chunk * range;
            // the sum start + range could overflow
            body.run(start, start + Math.min(range, to - start));
          }
        });
  }
}
