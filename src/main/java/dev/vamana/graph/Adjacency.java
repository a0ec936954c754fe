package dev.vamana.graph;

import java.io.IOException;

/**
 * The out-neighbours of every ordinal of a graph.
 *
 * <p>An instance may serve one thread at a time; {@link #copy()} gives another thread its own view
 * of the same rows.
 */
public interface Adjacency {

  /** Number of nodes; ordinals are 0 to size - 1. */
  int size();

  /** Most neighbours that a row can hold. */
  int maxDegree();

  /**
   * Copies the neighbours of a node.
   *
   * @param ordinal the node, 0 to size - 1
   * @param neighbors receives the neighbours' ordinals, each 0 to size - 1; holds at least {@link
   *     #maxDegree()}
   * @return how many there are
   * @throws org.apache.lucene.index.CorruptIndexException if a stored neighbour is not an ordinal
   *     of the graph
   */
  int neighbors(int ordinal, int[] neighbors) throws IOException;

  /** An independent view of the same rows, for another thread. */
  Adjacency copy() throws IOException;
}
