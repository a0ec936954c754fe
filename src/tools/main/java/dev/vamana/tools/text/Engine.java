package dev.vamana.tools.text;

import java.io.IOException;
import java.util.List;

/** One of the indices that the page compares. */
public interface Engine {

  /** Its name on the page. */
  String label();

  /**
   * Asks for the nearest passages.
   *
   * @param vector of the question
   * @param k hits wanted
   * @param numCandidates how thoroughly to search, k or more
   * @throws IOException if the index does not answer
   * @throws IllegalStateException if it answers with a failure
   */
  Answer ask(float[] vector, int k, int numCandidates) throws IOException;

  /** Who has computed the answers so far, such as {@code CPU}; for the page. */
  String answeredBy() throws IOException;

  /**
   * Answer of an index.
   *
   * @param hits best first
   */
  record Answer(List<Hit> hits) {}

  /**
   * One hit.
   *
   * @param ordinal number of the passage
   * @param score the index's score, higher is nearer
   * @param passage as the index stores it
   */
  record Hit(int ordinal, double score, Passage passage) {}
}
