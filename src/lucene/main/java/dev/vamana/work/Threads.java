package dev.vamana.work;

import java.util.List;

/** Starts threads, and waits for them to end. */
public final class Threads {

  private Threads() {}

  /**
   * Starts a thread that has not been started. Returns false, and the thread may be started later,
   * if the machine has no room for another thread.
   */
  public static boolean started(Thread thread) {
    try {
      thread.start();
      return true;
    } catch (OutOfMemoryError e) {
      return false;
    }
  }

  /**
   * Waits until a thread has ended. An interruption of the calling thread does not end the wait;
   * the thread's interrupt flag is set afterwards.
   */
  public static void join(Thread thread) {
    join(List.of(thread));
  }

  /** Waits until all threads have ended, as {@link #join(Thread)} does for one. */
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
