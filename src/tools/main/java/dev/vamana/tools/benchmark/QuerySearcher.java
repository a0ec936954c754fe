package dev.vamana.tools.benchmark;

import java.io.Closeable;
import java.io.IOException;

/** Answers the queries of one set. For one thread. */
interface QuerySearcher extends Closeable {

  /**
   * Searches for one query.
   *
   * @param query row of the queries
   * @param width beam width, at least {@code nearest.length}
   * @param nearest receives the ordinals of the best, nearest first, then -1 if fewer were found
   */
  void search(int query, int width, int[] nearest) throws IOException;
}
