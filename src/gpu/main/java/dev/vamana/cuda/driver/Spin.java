package dev.vamana.cuda.driver;

/**
 * Waits for events that are due within microseconds, without blocking other threads from the
 * processor.
 */
public final class Spin {

  private static final int BEFORE_YIELD = 100;

  private Spin() {}

  /**
   * Performs one step of a wait.
   *
   * @param step number of the step, from 0
   */
  @SuppressWarnings("ThreadPriorityCheck") // the awaited thread may need this processor
  public static void once(int step) {
    if (step < BEFORE_YIELD) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }
}
