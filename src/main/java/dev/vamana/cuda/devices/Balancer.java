package dev.vamana.cuda.devices;

import dev.vamana.work.Threads;
import java.io.Closeable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The thread that has {@link Placements} balanced: after each round, and at once when a device is
 * lost or comes back.
 */
final class Balancer implements Runnable, Closeable {

  private final Placements placements;
  private final long roundNanos;
  private final Consumer<RuntimeException> failures;
  private final Thread thread = new Thread(this, "vamana-gpu-balance");
  private boolean woken;
  private boolean stopping;

  /**
   * Starts the thread.
   *
   * @param failures receives what a round failed with; the next round tries again
   */
  Balancer(Placements placements, long roundNanos, Consumer<RuntimeException> failures) {
    this.placements = placements;
    this.roundNanos = roundNanos;
    this.failures = failures;
    thread.setDaemon(true);
    thread.start();
  }

  /** Begins the next round now. */
  synchronized void wake() {
    woken = true;
    notifyAll();
  }

  @Override
  public void run() {
    long last = System.nanoTime();
    try {
      while (pause()) {
        long now = System.nanoTime();
        try {
          placements.balance(Math.max(1, now - last) / 1e9);
        } catch (RuntimeException e) {
          failures.accept(e);
        }
        last = now;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the next round. Returns false to stop. */
  private synchronized boolean pause() throws InterruptedException {
    long end = System.nanoTime() + roundNanos;
    while (stopping == false && woken == false) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        break;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    woken = false;
    return stopping == false;
  }

  /** Waits for the running round and ends the thread. */
  @Override
  public void close() {
    synchronized (this) {
      stopping = true;
      notifyAll();
    }
    Threads.join(thread);
  }
}
