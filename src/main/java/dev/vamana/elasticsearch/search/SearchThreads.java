package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.search.TaskExecutor;
import org.elasticsearch.common.util.concurrent.EsRejectedExecutionException;

/**
 * The threads of the pool {@code search} that one batch may use: the calling thread, and other
 * threads as far as they are free. The calling thread makes progress by itself, so a busy pool
 * delays a batch but cannot block it.
 */
final class SearchThreads {

  private final TaskExecutor tasks;
  private final int threads;

  /**
   * Makes the threads of a pool.
   *
   * @param threads most threads of one loop including the calling one, at least 1
   */
  SearchThreads(Executor pool, int threads) {
    this.tasks = new TaskExecutor(command -> executeIfAccepted(pool, command));
    this.threads = threads;
  }

  /** Most threads of one loop, including the calling thread. */
  int most() {
    return threads;
  }

  /**
   * Runs a command in the pool. If the pool is full, the command is dropped and the calling thread
   * does its work.
   */
  private static void executeIfAccepted(Executor pool, Runnable command) {
    try {
      pool.execute(command);
    } catch (EsRejectedExecutionException full) {
      return;
    }
  }

  /** One step of a loop. */
  @FunctionalInterface
  interface Body {
    void run(int index) throws IOException;
  }

  /**
   * Runs a loop over {@code 0 <= index < count}. Each thread repeatedly takes {@code grain}
   * indices.
   *
   * @param grain indices that a thread takes at a time, at least 1
   */
  void forEach(int count, int grain, Body body) throws IOException {
    int chunks = (count + grain - 1) / grain;
    AtomicInteger nextChunk = new AtomicInteger();
    Callable<Void> worker =
        () -> {
          int chunk;
          while ((chunk = nextChunk.getAndIncrement()) < chunks) {
            int end = Math.min(count, (chunk + 1) * grain);
            for (int index = chunk * grain; index < end; index++) {
              body.run(index);
            }
          }
          return null;
        };
    List<Callable<Void>> workers = new ArrayList<>();
    for (int i = 0; i < Math.min(threads, chunks); i++) {
      workers.add(worker);
    }
    tasks.invokeAll(workers);
  }
}
