package dev.vamana.cuda;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** Runs the uploads of a context on the thread that asks for them, at once or when told. */
final class Uploads extends AbstractExecutorService {

  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private boolean late;
  private int missed;
  private boolean shutdown;

  /** Lets everything that comes from now on wait until {@link #arrive}. */
  synchronized Uploads delay() {
    late = true;
    return this;
  }

  /** Runs all that waits. */
  void arrive() {
    Runnable next;
    while ((next = next()) != null) {
      next.run();
    }
  }

  private synchronized Runnable next() {
    late = waiting.isEmpty() == false;
    return waiting.poll();
  }

  /** Has no thread for the next requests; those who ask after them find the work done. */
  synchronized void miss(int requests) {
    missed = requests;
  }

  @Override
  public void execute(Runnable work) {
    synchronized (this) {
      if (shutdown) {
        throw new RejectedExecutionException("shut down");
      }
      if (missed > 0) {
        missed--;
        throw new OutOfMemoryError("no thread");
      }
      if (late) {
        waiting.add(work);
        return;
      }
    }
    work.run();
  }

  @Override
  public synchronized void shutdown() {
    shutdown = true;
  }

  @Override
  public List<Runnable> shutdownNow() {
    shutdown();
    return List.of();
  }

  @Override
  public synchronized boolean isShutdown() {
    return shutdown;
  }

  @Override
  public boolean isTerminated() {
    return isShutdown();
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return isShutdown();
  }
}
