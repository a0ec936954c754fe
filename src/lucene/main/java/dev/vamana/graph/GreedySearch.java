package dev.vamana.graph;

import dev.vamana.vectors.PairDistances;
import java.io.IOException;

/** Searches a graph for stored vectors, with scratch memory for one thread. */
final class GreedySearch {

  // nodes of the narrow walk that looks whether a node can be found
  private static final int WALK_BEAM = 2;
  private static final int NO_NODE = -1;

  private final Adjacency rows;
  private final SearchWidths widths;
  private final int entryPoint;
  private final PairDistances distances;
  private final Worklist worklist;
  private final VisitedSet visited;
  private final int[] fresh;
  private final float[] freshDistances;
  private final int[] row;
  private int strayed = NO_NODE;
  private float strayedDistance;

  /**
   * Makes a search.
   *
   * @param entryPoint node from which it starts
   */
  GreedySearch(Adjacency rows, SearchWidths widths, int entryPoint, PairDistances distances) {
    this.rows = rows;
    this.widths = widths;
    this.entryPoint = entryPoint;
    this.distances = distances;
    this.worklist = new Worklist(widths.kept());
    this.visited = new VisitedSet(rows.size(), widths.kept() * 16);
    this.fresh = new int[rows.maxDegree()];
    this.freshDistances = new float[rows.maxDegree()];
    this.row = new int[rows.maxDegree()];
  }

  /**
   * Searches greedily for the node's vector from the entry point, and fills {@link #worklist()}.
   * The node is the pivot of the distances afterwards.
   */
  void search(int node) throws IOException {
    start(node);
    startAtEntryPoint();
    expandAll(widths.expanded());
  }

  /**
   * Searches for a node that has neighbours already, and fills {@link #worklist()} with other
   * nodes. The node is the pivot of the distances afterwards.
   *
   * <p>A narrow walk from the entry point comes first. If it gets as near to the node as half of
   * its neighbours are, the search goes on from the neighbours, whose distances are known.
   * Otherwise the node is hard to find. The search goes on from where the walk has ended, and
   * {@link #strayed} is where it has ended: an edge from there to the node lets other walks go on.
   * Without such edges, tight clusters that the first pass has left apart would stay so.
   *
   * @param neighbors the node's neighbours, nearest first
   * @param neighborDistances their distances
   * @param degree how many, at least 1
   */
  void searchAgain(int node, int[] neighbors, float[] neighborDistances, int degree)
      throws IOException {
    start(node);
    visited.add(node);
    if (node != entryPoint) {
      startAtEntryPoint();
      if (walkTo(neighborDistances[degree / 2]) == false) {
        strayed = worklist.ordinal(0);
        strayedDistance = worklist.distance(0);
        expandAll(widths.kept());
        return;
      }
    }
    for (int i = 0; i < degree; i++) {
      if (visited.add(neighbors[i])) {
        worklist.insert(neighbors[i], neighborDistances[i]);
      }
    }
    expandAll(widths.expanded());
  }

  /**
   * Returns the node that was nearest when the narrow walk of the last search ended far from the
   * searched node, or -1 if it did not.
   */
  int strayed() {
    return strayed;
  }

  /** Returns the distance of {@link #strayed}. */
  float strayedDistance() {
    return strayedDistance;
  }

  private void start(int node) throws IOException {
    strayed = NO_NODE;
    distances.pivot(node);
    worklist.clear();
    visited.clear();
  }

  private void startAtEntryPoint() throws IOException {
    fresh[0] = entryPoint;
    visited.add(entryPoint);
    score(1);
  }

  /** Walks until a node is as near as the target; returns whether there was one. */
  private boolean walkTo(float target) throws IOException {
    while (worklist.distance(0) > target) {
      int next = worklist.expandNext(WALK_BEAM);
      if (next < 0) {
        return false;
      }
      expand(next);
    }
    return true;
  }

  private void expandAll(int nearest) throws IOException {
    int next;
    while ((next = worklist.expandNext(nearest)) >= 0) {
      expand(next);
    }
  }

  private void expand(int node) throws IOException {
    int degree = rows.neighbors(node, row);
    score(visited.addAll(row, degree, fresh, 0));
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
