package dev.vamana.graph;

import dev.vamana.vectors.PairDistances;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import java.io.IOException;
import org.apache.lucene.util.IntroSorter;

/**
 * Makes every node reachable from the entry point. Robust prune alone does not guarantee it: of
 * many equal vectors, for example, it keeps one edge.
 *
 * <p>A search tree from the entry point shows which nodes are missing. Each missing node is linked
 * from a reachable node near it, in a free slot or in place of the farthest edge that is not part
 * of the tree.
 *
 * <p>With inner products, short vectors are near to no other vector, so most nodes may be missing,
 * and the same few long vectors are near to all of them. If these linked to all missing nodes,
 * every walk that passes them would look at hundreds of short vectors. So a node links to the
 * longest missing node near it, and the other missing nodes, from long to short, are linked from
 * missing nodes that were linked before. Nearness is searched by inner product and decided by
 * direction.
 */
final class Reachability {

  private static final int UNREACHED = -1;
  private static final int ABORT_INTERVAL = 1 << 12;

  private final EditableRows rows;
  private final int maxDegree;
  private final int entryPoint;
  private final PairDistances distances;
  private final GreedySearch searcher;
  private final MemoryBudget budget;
  private final AbortCheck abort;
  private final boolean byLength;
  private NodeNumbers parents;
  // by node, the node that takes the next missing node near it; null unless lengths matter
  private NodeNumbers takers;
  private final int[] row;
  private final int[] nearRow;
  private final float[] rowDistances;
  private int nextSpare;

  Reachability(
      EditableRows rows,
      BuildParameters parameters,
      int entryPoint,
      PairDistances distances,
      MemoryBudget budget,
      AbortCheck abort) {
    this.rows = rows;
    this.maxDegree = parameters.maxDegree();
    this.entryPoint = entryPoint;
    this.distances = distances;
    this.searcher = new GreedySearch(rows, SearchWidths.even(parameters), entryPoint, distances);
    this.budget = budget;
    this.abort = abort;
    this.byLength = distances.scalable() == false;
    this.row = new int[rows.maxDegree()];
    this.nearRow = new int[rows.maxDegree()];
    this.rowDistances = new float[rows.maxDegree()];
  }

  /** Links all missing nodes, and returns their number. */
  int repair() throws IOException {
    try (NodeNumbers tree = new NodeNumbers(rows.size(), budget, abort)) {
      tree.fill((byte) UNREACHED);
      tree.set(entryPoint, entryPoint);
      parents = tree;
      reachFrom(entryPoint);
      return link(false);
    }
  }

  /**
   * Links all nodes that a search tree does not have. A missing node is linked from the nearest
   * node of its own row that can be reached, without a search, if there is one and vectors are not
   * compared by inner products.
   *
   * @param tree by node, the node before it in the tree, or {@value #UNREACHED}; the missing nodes
   *     are added
   * @return number of missing nodes that were linked
   */
  int repair(NodeNumbers tree) throws IOException {
    parents = tree;
    return link(true);
  }

  private int link(boolean byRows) throws IOException {
    if (byLength == false) {
      return link(byRows, null);
    }
    try (NodeNumbers numbers = new NodeNumbers(rows.size(), budget, abort);
        NodeNumbers missing = new NodeNumbers(missing(), budget, abort)) {
      numbers.fill((byte) UNREACHED);
      takers = numbers;
      sortLongestFirst(missing);
      return link(byRows, missing);
    }
  }

  /**
   * Links missing nodes.
   *
   * @param order the missing nodes, or null to find them in the order of their ordinals
   */
  private int link(boolean byRows, NodeNumbers order) throws IOException {
    int count = order == null ? parents.size() : order.size();
    int linked = 0;
    for (int i = 0; i < count; i++) {
      if (i % ABORT_INTERVAL == 0) {
        abort.check();
      }
      int node = order == null ? i : order.get(i);
      if (parents.get(node) == UNREACHED) {
        // a short vector's row has the long ones, which must not link to all short vectors
        if (byRows == false || takers != null || attachByRow(node) == false) {
          attach(node);
        }
        reachFrom(node);
        linked++;
      }
    }
    return linked;
  }

  private int missing() {
    int count = 0;
    for (int node = 0; node < parents.size(); node++) {
      count += parents.get(node) == UNREACHED ? 1 : 0;
    }
    return count;
  }

  /** Puts the missing nodes in the order in which they are linked if lengths matter. */
  private void sortLongestFirst(NodeNumbers missing) {
    int count = 0;
    for (int node = 0; node < parents.size(); node++) {
      if (parents.get(node) == UNREACHED) {
        missing.set(count++, node);
      }
    }
    new LengthSorter(missing).sort(0, count);
  }

  /**
   * Adds to the tree what a node of it leads to, depth first. The tree itself is the way back, and
   * a node's place in the row before it tells where that row goes on, so no stack is needed.
   */
  private void reachFrom(int start) throws IOException {
    int node = start;
    int degree = rows.neighbors(node, row);
    int next = 0;
    int steps = 0;
    while (true) {
      if (++steps % ABORT_INTERVAL == 0) {
        abort.check();
      }
      while (next < degree && parents.get(row[next]) != UNREACHED) {
        next++;
      }
      if (next < degree) {
        parents.set(row[next], node);
        node = row[next];
        degree = rows.neighbors(node, row);
        next = 0;
      } else if (node == start) {
        return;
      } else {
        int done = node;
        node = parents.get(done);
        degree = rows.neighbors(node, row);
        next = 0;
        while (row[next] != done) {
          next++;
        }
      }
    }
  }

  private boolean attachByRow(int node) {
    int degree = rows.row(node, nearRow, rowDistances);
    for (int i = 0; i < degree; i++) {
      int from = nearRow[i];
      if (parents.get(from) != UNREACHED && addEdge(from, node, Float.MAX_VALUE)) {
        parents.set(node, from);
        return true;
      }
    }
    return false;
  }

  private void attach(int node) throws IOException {
    searcher.search(node);
    Worklist near = searcher.worklist();
    if (takers != null && attachToTaker(node, near)) {
      return;
    }
    for (int rank = 0; rank < near.size(); rank++) {
      int from = near.ordinal(rank);
      if (from != node && addEdge(from, node, near.distance(rank))) {
        parents.set(node, from);
        return;
      }
    }
    attachAnywhere(node);
  }

  /** Links a node in the way described for inner products. Returns false if there is no room. */
  private boolean attachToTaker(int node, Worklist near) {
    int nearest = 0;
    float shortest = Float.POSITIVE_INFINITY;
    for (int rank = 0; rank < near.size(); rank++) {
      // the search has left its node as the pivot
      float distance = distances.scaled(near.ordinal(rank), near.distance(rank));
      if (distance < shortest) {
        shortest = distance;
        nearest = rank;
      }
    }
    int ordinal = near.ordinal(nearest);
    int from = takers.get(ordinal) == UNREACHED ? ordinal : takers.get(ordinal);
    if (addEdge(from, node, from == ordinal ? near.distance(nearest) : Float.MAX_VALUE) == false) {
      return false;
    }
    parents.set(node, from);
    if (from == ordinal || rows.degree(from) >= maxDegree) {
      takers.set(ordinal, node);
    }
    return true;
  }

  /**
   * Links a node whose surroundings are full of tree edges, for example among thousands of equal
   * vectors. A tree has leaves, so some reachable node has an edge to spare. The search for it
   * continues where the last one ended.
   */
  private void attachAnywhere(int node) throws IOException {
    for (int tried = 0; tried < parents.size(); tried++) {
      // the distance is not needed: the edge serves reachability only
      if (nextSpare != node
          && parents.get(nextSpare) != UNREACHED
          && addEdge(nextSpare, node, Float.MAX_VALUE)) {
        parents.set(node, nextSpare);
        return;
      }
      nextSpare = (nextSpare + 1) % parents.size();
    }
    throw new IllegalStateException("no reachable node can link to node " + node);
  }

  private final class LengthSorter extends IntroSorter {
    private final NodeNumbers nodes;
    private int pivot;

    LengthSorter(NodeNumbers nodes) {
      this.nodes = nodes;
    }

    @Override
    protected void setPivot(int i) {
      pivot = nodes.get(i);
    }

    @Override
    protected int comparePivot(int j) {
      int node = nodes.get(j);
      int order = distances.longerFirst(pivot, node);
      return order != 0 ? order : Integer.compare(pivot, node);
    }

    @Override
    protected void swap(int i, int j) {
      int node = nodes.get(i);
      nodes.set(i, nodes.get(j));
      nodes.set(j, node);
    }
  }

  private boolean addEdge(int from, int to, float distance) {
    int degree = rows.row(from, row, rowDistances);
    if (degree < maxDegree) {
      rows.append(from, to, distance);
      return true;
    }
    int farthest = -1;
    for (int i = 0; i < degree; i++) {
      if (parents.get(row[i]) != from
          && (farthest < 0 || rowDistances[i] > rowDistances[farthest])) {
        farthest = i;
      }
    }
    if (farthest < 0) {
      return false;
    }
    rows.replace(from, farthest, to, distance);
    return true;
  }
}
