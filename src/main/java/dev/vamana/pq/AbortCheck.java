package dev.vamana.pq;

import java.io.IOException;

/** Lets long work stop early. Called often, from every thread that takes part in the work. */
@FunctionalInterface
public interface AbortCheck {

  /** Never aborts. */
  AbortCheck NEVER = () -> {};

  /**
   * Returns normally to go on, throws to stop.
   *
   * @throws IOException if the work is to be abandoned; the exception reaches the caller unchanged
   */
  void checkAborted() throws IOException;
}
