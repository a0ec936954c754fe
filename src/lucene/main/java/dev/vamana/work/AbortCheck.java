package dev.vamana.work;

import java.io.IOException;

/**
 * Stops long work. Builds call it regularly; it throws when the work should stop, as when Lucene
 * aborts a merge.
 */
@FunctionalInterface
public interface AbortCheck {

  /** A check that never stops the work. */
  AbortCheck NEVER = () -> {};

  /** Throws if the work should stop. */
  void check() throws IOException;
}
