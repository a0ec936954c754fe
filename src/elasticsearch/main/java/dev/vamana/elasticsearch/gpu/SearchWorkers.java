package dev.vamana.elasticsearch.gpu;

import dev.vamana.work.Workers;
import java.util.concurrent.Executor;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.common.util.concurrent.EsRejectedExecutionException;

/**
 * The threads that may share the work of one search: the calling thread, and other threads of a
 * pool as far as they are free.
 */
public final class SearchWorkers {

  private SearchWorkers() {}

  /** Makes workers of as many threads as the node has processors. */
  public static Workers of(Executor pool, Settings settings) {
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
