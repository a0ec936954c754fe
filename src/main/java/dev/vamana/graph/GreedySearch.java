package dev.vamana.graph;

import dev.vamana.vectors.PairDistances;
import java.io.IOException;

/** Searches a graph for stored vectors, with scratch memory for one thread. */
final class GreedySearch {

  private final Adjacency rows;
  private final int entryPoint;
  private final PairDistances distances;
  private final Worklist worklist;
  private final VisitedSet visited;
  private final int[] fresh;
  private final float[] freshDistances;
  private final int[] row;

  /**
   * Makes a search.
   *
   * @param beam nodes that it keeps
   */
  GreedySearch(Adjacency rows, int beam, int entryPoint, PairDistances distances) {
    this.rows = rows;
    this.entryPoint = entryPoint;
    this.distances = distances;
    this.worklist = new Worklist(beam);
    this.visited = new VisitedSet(rows.size(), beam * 16);
    this.fresh = new int[rows.maxDegree()];
    this.freshDistances = new float[rows.maxDegree()];
    this.row = new int[rows.maxDegree()];
  }

  /**
   * Searches greedily for the node's vector from the entry point, and fills {@link #worklist()}.
   * The node is the pivot of the distances afterwards.
   */
  void search(int node) throws IOException {
    distances.pivot(node);
    worklist.clear();
    visited.clear();
    fresh[0] = entryPoint;
    visited.add(entryPoint);
    score(1);
    int next;
    while ((next = worklist.expandNext()) >= 0) {
      int degree = rows.neighbors(next, row);
      score(visited.addAll(row, degree, fresh));
    }
  }

  /** Returns the nodes nearest to the vector of the last search. */
  Worklist worklist() {
    return worklist;
  }

  private void score(int count) throws IOException {
    if (count == 0) {
      return;
    }
    distances.distances(fresh, freshDistances, count);
    for (int i = 0; i < count; i++) {
      worklist.insert(fresh[i], freshDistances[i]);
    }
  }
}
