package dev.vamana.elasticsearch.batch;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.search.TaskExecutor;
import org.elasticsearch.common.util.concurrent.EsRejectedExecutionException;

/**
 * The threads of the pool {@code search} that one batch may use: the calling one, and others as far
 * as they are free. The caller makes progress by itself, so a busy pool delays a batch but cannot
 * block it.
 */
final class SearchThreads {

  private final TaskExecutor tasks;
  private final int threads;

  /**
   * Makes the threads of a pool.
   *
   * @param threads most threads of one loop, the calling one included, at least 1
   */
  SearchThreads(Executor pool, int threads) {
    this.tasks = new TaskExecutor(command -> executeIfAccepted(pool, command));
    this.threads = threads;
  }

  /** Most threads of one loop, the calling one included. */
  int most() {
    return threads;
  }

  /** What a full pool does not take, the caller does in the end. */
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
   * Runs a loop over {@code 0 <= index < count}, of which each thread takes some at a time.
   *
   * @param grain how many indices a thread takes at a time, at least 1
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
