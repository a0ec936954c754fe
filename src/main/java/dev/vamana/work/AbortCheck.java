package dev.vamana.work;

import java.io.IOException;

/**
 * Called regularly by long work; throws when the work should stop, as Lucene's merges do when they
 * are aborted.
 */
@FunctionalInterface
public interface AbortCheck {

  /** Never aborts. */
  AbortCheck NEVER = () -> {};

  /** Throws if the work should stop. */
  void check() throws IOException;
}
