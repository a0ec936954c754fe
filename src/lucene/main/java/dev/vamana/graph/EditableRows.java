package dev.vamana.graph;

/** Rows of a graph in which {@link Reachability} can add and replace edges. */
interface EditableRows extends Adjacency, AutoCloseable {

  /** Returns the number of neighbours of a node. */
  int degree(int ordinal);

  /**
   * Copies a row.
   *
   * @param neighbors receives the neighbours
   * @param distances receives their distances, or other numbers in the same order
   * @return number of neighbours
   */
  int row(int ordinal, int[] neighbors, float[] distances);

  /** Adds an edge to a row that has a free slot. */
  void append(int ordinal, int neighbor, float distance);

  /** Replaces an edge of a row. */
  void replace(int ordinal, int index, int neighbor, float distance);

  /** Frees the rows' memory. */
  @Override
  void close();
}
