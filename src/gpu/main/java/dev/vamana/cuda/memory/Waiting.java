package dev.vamana.cuda.memory;

import java.util.function.BooleanSupplier;

/**
 * Waits for conditions on a monitor without being ended by interrupts. Used where files may only be
 * closed after the wait.
 */
public final class Waiting {

  private Waiting() {}

  /**
   * Waits until a condition is true. The caller holds the monitor, and changes notify it. An
   * interrupt does not end the wait; the interrupt status is kept.
   */
  public static void until(Object monitor, BooleanSupplier condition) {
    boolean interrupted = false;
    while (condition.getAsBoolean() == false) {
      try {
        monitor.wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
