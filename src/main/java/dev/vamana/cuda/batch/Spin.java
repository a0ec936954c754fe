package dev.vamana.cuda.batch;

/** Waiting for what comes in some microseconds, without keeping a processor from others. */
public final class Spin {

  private static final int BEFORE_YIELD = 100;

  private Spin() {}

  /**
   * A step of a wait.
   *
   * @param step number of the step, from 0
   */
  @SuppressWarnings("ThreadPriorityCheck") // what is waited for may need this very processor
  public static void once(int step) {
    if (step < BEFORE_YIELD) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }
}
