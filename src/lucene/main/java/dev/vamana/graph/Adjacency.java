package dev.vamana.graph;

import java.io.IOException;

/**
 * The out-neighbours of every node of a graph.
 *
 * <p>An instance is used by one thread at a time; {@link #copy()} returns a view of the same rows
 * for another thread.
 */
public interface Adjacency {

  /** Number of nodes; ordinals are 0 to size - 1. */
  int size();

  /** Most neighbours of a row. */
  int maxDegree();

  /**
   * Copies the neighbours of a node.
   *
   * @param ordinal the node, 0 to size - 1
   * @param neighbors receives the neighbours' ordinals, each 0 to size - 1; at least {@link
   *     #maxDegree()} elements
   * @return the number of neighbours
   * @throws org.apache.lucene.index.CorruptIndexException if a stored neighbour is not an ordinal
   *     of the graph
   */
  int neighbors(int ordinal, int[] neighbors) throws IOException;

  /** Returns an independent view of the same rows for another thread. */
  Adjacency copy() throws IOException;
}
