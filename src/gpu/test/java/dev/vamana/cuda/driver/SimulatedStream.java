package dev.vamana.cuda.driver;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Runs its tasks in order, immediately or in a thread of its own. */
final class SimulatedStream {

  private final ExecutorService thread;
  private final Executor executor;
  private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

  SimulatedStream(boolean threaded) {
    thread =
        threaded
            ? Executors.newSingleThreadExecutor(work -> new Thread(work, "simulated-stream"))
            : null;
    executor = threaded ? thread : Runnable::run;
  }

  /** Queues work that does not throw; done when it and all before it are. */
  synchronized CompletableFuture<Void> add(Runnable work) {
    last = CompletableFuture.runAsync(work, executor);
    return last;
  }

  /** Done when all that is queued now is. */
  synchronized CompletableFuture<Void> last() {
    return last;
  }

  void close() {
    last().join();
    if (thread != null) {
      thread.shutdown();
      try {
        if (thread.awaitTermination(30, TimeUnit.SECONDS) == false) {
          throw new AssertionError("a simulated stream does not end");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
