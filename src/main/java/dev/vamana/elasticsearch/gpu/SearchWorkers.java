package dev.vamana.elasticsearch.gpu;

import dev.vamana.work.Workers;
import java.util.concurrent.Executor;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.common.util.concurrent.EsRejectedExecutionException;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * The threads among which the node's executor divides what the CPU answers: the calling thread, and
 * other threads of the pool {@code search} as far as they are free.
 */
public final class SearchWorkers {

  private SearchWorkers() {}

  /** Makes workers of as many threads as the node has processors. */
  public static Workers of(ThreadPool pools, Settings settings) {
    Executor pool = pools.executor(ThreadPool.Names.SEARCH);
    return new Workers(
        command -> executeIfAccepted(pool, command), EsExecutors.allocatedProcessors(settings));
  }

  /** If the pool is full, the command is dropped and the calling thread does its work. */
  private static void executeIfAccepted(Executor pool, Runnable command) {
    try {
      pool.execute(command);
    } catch (EsRejectedExecutionException full) {
      return;
    }
  }
}
