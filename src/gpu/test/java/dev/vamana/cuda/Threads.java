package dev.vamana.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.util.NamedThreadFactory;

/** Runs a body on several threads at the same time. */
final class Threads {

  private Threads() {}

  /** A body that is told which thread it runs on. */
  interface Body {
    void run(int thread) throws Exception;
  }

  /** Returns when all have ended; throws what one of them threw. */
  static void run(int count, Body body) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(count, new NamedThreadFactory("test"));
    try {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int thread = i;
        tasks.add(
            () -> {
              body.run(thread);
              return null;
            });
      }
      for (Future<Void> future : pool.invokeAll(tasks)) {
        future.get();
      }
    } finally {
      pool.shutdown();
      pool.awaitTermination(2, TimeUnit.MINUTES);
    }
  }
}
