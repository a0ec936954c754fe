package dev.vamana.graph;

import java.io.Closeable;

/**
 * A finished graph in memory. Closing it frees its rows, which are in native memory after a build.
 *
 * @param rows the adjacency rows, each of at most the max degree
 * @param maxDegree most neighbours of a row
 * @param entryPoint ordinal from which searches start, the medoid; every node can be reached from
 *     it
 * @param reusedNodes number of nodes taken from an existing graph instead of being inserted
 */
public record VamanaGraph(Adjacency rows, int maxDegree, int entryPoint, int reusedNodes)
    implements Closeable {

  @Override
  public void close() {
    if (rows instanceof EditableRows memory) {
      memory.close();
    }
  }
}
