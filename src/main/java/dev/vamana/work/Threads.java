package dev.vamana.work;

import java.util.List;

/** What is done with threads at their end. */
public final class Threads {

  private Threads() {}

  /** Waits until a thread has ended; an interruption of the calling thread is kept for later. */
  public static void join(Thread thread) {
    join(List.of(thread));
  }

  /** As {@link #join(Thread)}, for several threads. */
  public static void join(List<Thread> threads) {
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
