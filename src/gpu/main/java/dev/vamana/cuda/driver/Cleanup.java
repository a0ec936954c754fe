package dev.vamana.cuda.driver;

import java.util.List;

/** Gives back several things of which each may fail to be given back. */
public final class Cleanup {

  private Cleanup() {}

  /** Runs actions after a failure, which gets what they throw as suppressed. */
  public static void after(Throwable failure, Runnable... actions) {
    for (Runnable action : actions) {
      try {
        action.run();
      } catch (RuntimeException e) {
        failure.addSuppressed(e);
      }
    }
  }

  /** Runs all actions, and then throws what the last failure was, if there was any. */
  public static void all(Runnable... actions) {
    all(List.of(actions));
  }

  /** As {@link #all(Runnable...)}. */
  public static void all(List<Runnable> actions) {
    RuntimeException failure = null;
    for (Runnable action : actions) {
      try {
        action.run();
      } catch (RuntimeException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
