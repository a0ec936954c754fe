package dev.vamana.work;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.search.TaskExecutor;

/**
 * The threads that long work may use: the calling thread and up to {@code threads - 1} of an
 * executor that is shared with other builds. The caller always makes progress by itself, so a busy
 * executor slows a build down but never blocks it.
 */
public final class Workers {

  private static final int CHUNK = 64;

  private final Executor executor;
  private final TaskExecutor tasks;
  private final int threads;

  /**
   * Makes workers of a shared executor.
   *
   * @param executor runs the helping threads; may be shared and may be busy
   * @param threads most threads of one loop, the calling one included, at least 1
   */
  public Workers(Executor executor, int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads must be at least 1, got " + threads);
    }
    this.executor = executor;
    this.tasks = new TaskExecutor(executor);
    this.threads = threads;
  }

  /** The calling thread alone. */
  public static Workers callingThread() {
    return new Workers(Runnable::run, 1);
  }

  /** Most threads of one loop, the calling one included. */
  public int threads() {
    return threads;
  }

  /** Runs the helping threads. */
  public Executor executor() {
    return executor;
  }

  /** What several threads do at once. */
  @FunctionalInterface
  public interface Task {
    /** Does this thread's part. */
    void run() throws IOException;
  }

  /**
   * Runs a task on the calling thread and on others at the same time, as far as they are free, and
   * returns when it has ended everywhere. Threads that are free later begin then, the calling one
   * may run it more than once, and a failure keeps it from beginning elsewhere: what there is to do
   * has to be shared out by the task itself.
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

  /** One thread's part of a parallel loop; holds that thread's scratch memory. */
  @FunctionalInterface
  public interface Body {
    /** Handles one index of the loop. */
    void run(int index) throws IOException;
  }

  /** Makes the body of each thread that takes part. */
  @FunctionalInterface
  public interface BodyFactory {
    /** A body for the calling thread. */
    Body create() throws IOException;
  }

  /** One thread's part of a parallel loop over ranges; holds that thread's scratch memory. */
  @FunctionalInterface
  public interface RangeBody {
    /** Handles the indices {@code from <= index < to}, at least one. */
    void run(int from, int to) throws IOException;
  }

  /** Makes the body of each thread that takes part. */
  @FunctionalInterface
  public interface RangeBodyFactory {
    /** A body for the calling thread. */
    RangeBody create() throws IOException;
  }

  /**
   * Runs a loop over {@code from <= index < to}; with one thread in ascending order. The abort
   * check is called on every thread, once for each {@value #CHUNK} indices.
   */
  public void forEach(int from, int to, BodyFactory factory, AbortCheck abort) throws IOException {
    forEachRange(
        from,
        to,
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
   * Runs a loop over {@code from <= index < to} in ranges of {@value #CHUNK} indices, the last of
   * which may be shorter; with one thread in ascending order. The abort check is called on every
   * thread, once a range.
   */
  public void forEachRange(int from, int to, RangeBodyFactory factory, AbortCheck abort)
      throws IOException {
    int chunks = (int) (((long) to - from + CHUNK - 1) / CHUNK);
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
            int start = from + chunk * CHUNK;
            // written so that it cannot overflow
            body.run(start, start + Math.min(CHUNK, to - start));
          }
        });
  }
}
