package dev.vamana.cuda.memory;

import java.util.function.BooleanSupplier;

/** Waits on monitors for what has to happen before files may be closed, interrupted or not. */
final class Waiting {

  private Waiting() {}

  /**
   * Waits on a monitor, which the caller holds and which is notified of changes. An interrupt does
   * not end the wait but is kept.
   */
  static void until(Object monitor, BooleanSupplier condition) {
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
