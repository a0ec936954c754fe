package dev.vamana.graph;

import dev.vamana.vectors.PairDistances;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.lucene.util.IntroSorter;

/**
 * Inserts nodes into a graph under construction. Each building thread has its own instance, which
 * holds scratch memory.
 */
final class NodeInserter {

  private final GraphRows rows;
  private final RobustPrune prune;
  private final GreedySearch search;
  private final Worklist worklist;
  private final VisitedSet candidateSet;
  private final VisitedSet settledSet;
  private final int[] candidates;
  private final float[] candidateDistances;
  private final boolean[] candidateSettled;
  private final int[] row;
  private final float[] rowDistances;
  private final boolean[] rowSettled;
  // linking back prunes other rows and reuses prune's arrays, so this node's neighbours are copied
  private final int[] chosen;
  private final float[] chosenDistances;
  private int chosenCount;

  NodeInserter(
      GraphRows rows,
      BuildParameters parameters,
      SearchWidths widths,
      int entryPoint,
      PairDistances distances) {
    this.rows = rows;
    this.prune = new RobustPrune(distances, parameters);
    this.search = new GreedySearch(rows, widths, entryPoint, distances);
    this.worklist = search.worklist();
    this.candidates = new int[widths.kept() + rows.maxDegree() + 1];
    this.candidateDistances = new float[candidates.length];
    this.candidateSettled = new boolean[candidates.length];
    // a hash set whatever the graph's size, since it holds only few nodes
    this.candidateSet = new VisitedSet(Integer.MAX_VALUE, candidates.length);
    this.settledSet = new VisitedSet(Integer.MAX_VALUE, parameters.maxDegree());
    this.row = new int[rows.maxDegree() + 1];
    this.rowDistances = new float[rows.maxDegree() + 1];
    this.rowSettled = new boolean[rows.maxDegree() + 1];
    this.chosen = new int[parameters.maxDegree()];
    this.chosenDistances = new float[parameters.maxDegree()];
  }

  /**
   * Inserts a node: searches its surroundings, chooses its neighbours and adds the edges back. If
   * other nodes have added edges back to its row, its present neighbours are candidates too.
   */
  void insert(int node) throws IOException {
    search.search(node);
    choose(node);
  }

  /**
   * Inserts a node with its row of a graph that is joined to this one, like {@link #insertAgain}.
   * The search starts from the neighbours in it that were inserted before.
   *
   * @param open nodes of that graph that were not inserted yet
   */
  void join(int node, OpenNodes open) throws IOException {
    int degree = readRow(node);
    new RowSorter().sort(0, degree);
    int inserted = 0;
    for (int i = 0; i < degree; i++) {
      if (open.has(row[i]) == false) {
        row[inserted] = row[i];
        rowDistances[inserted++] = rowDistances[i];
      }
    }
    if (inserted == 0) {
      search.search(node);
    } else {
      search.searchAgain(node, row, rowDistances, inserted);
    }
    choose(node);
  }

  /**
   * Inserts a node that an earlier pass has inserted. Its present neighbours are candidates, too,
   * and the search starts from them.
   */
  void insertAgain(int node) throws IOException {
    int degree = readRow(node);
    if (degree == 0) {
      insert(node);
      return;
    }
    new RowSorter().sort(0, degree);
    search.searchAgain(node, row, rowDistances, degree);
    choose(node);
  }

  /**
   * Takes the nearest neighbour of the last inserted node that is open.
   *
   * @return the neighbour, or -1 if none was open
   */
  int takeNeighbor(OpenNodes open) {
    for (int i = 0; i < chosenCount; i++) {
      if (open.take(chosen[i])) {
        return chosen[i];
      }
    }
    return -1;
  }

  private void choose(int node) throws IOException {
    int count = collectCandidates(node);
    int degree = prune.prune(node, candidates, candidateDistances, candidateSettled, count);
    chosenCount = degree;
    System.arraycopy(prune.kept(), 0, chosen, 0, degree);
    System.arraycopy(prune.keptDistances(), 0, chosenDistances, 0, degree);
    ReentrantLock lock = rows.lock(node);
    lock.lock();
    try {
      int present = rows.row(node, row, rowDistances);
      rows.setRow(node, chosen, chosenDistances, degree);
      for (int i = 0; i < present && rows.degree(node) < rows.maxDegree(); i++) {
        // an edge that another thread has added since the candidates were collected
        if (candidateSet.add(row[i])) {
          rows.append(node, row[i], rowDistances[i]);
        }
      }
    } finally {
      lock.unlock();
    }
    for (int i = 0; i < degree; i++) {
      link(chosen[i], node, chosenDistances[i]);
    }
  }

  /** Adds the edge {@code from -> to}, and prunes the row if it is full. */
  void link(int from, int to, float distance) throws IOException {
    ReentrantLock lock = rows.lock(from);
    lock.lock();
    try {
      if (rows.contains(from, to)) {
        return;
      }
      if (rows.degree(from) < rows.maxDegree()) {
        rows.append(from, to, distance);
        return;
      }
      int degree = readRow(from);
      row[degree] = to;
      rowDistances[degree] = distance;
      rowSettled[degree] = false;
      pruneRow(from, degree + 1);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Prunes a row at the end of the build. Edges back were added without pruning, and the spare
   * slots have to be emptied.
   */
  void trim(int node) throws IOException {
    pruneRow(node, readRow(node));
  }

  private int readRow(int node) {
    int settled = rows.settled(node);
    int degree = rows.row(node, row, rowDistances);
    for (int i = 0; i < degree; i++) {
      rowSettled[i] = i < settled;
    }
    return degree;
  }

  private void pruneRow(int node, int count) throws IOException {
    new RowSorter().sort(0, count);
    int kept = prune.prune(node, row, rowDistances, rowSettled, count);
    rows.setRow(node, prune.kept(), prune.keptDistances(), kept);
  }

  /**
   * Merges the worklist, the node's present row and the node where a walk has strayed, by distance,
   * without duplicates. Returns the number of candidates.
   */
  private int collectCandidates(int node) {
    candidateSet.clear();
    for (int rank = 0; rank < worklist.size(); rank++) {
      candidateSet.add(worklist.ordinal(rank));
    }
    int degree = readRow(node);
    settledSet.clear();
    for (int slot = 0; slot < degree; slot++) {
      if (rowSettled[slot]) {
        settledSet.add(row[slot]);
      }
    }
    if (search.strayed() >= 0 && contains(row, degree, search.strayed()) == false) {
      row[degree] = search.strayed();
      rowDistances[degree] = search.strayedDistance();
      rowSettled[degree] = false;
      degree++;
    }
    new RowSorter().sort(0, degree);
    int rank = 0;
    int count = 0;
    for (int slot = 0; slot < degree; slot++) {
      if (candidateSet.add(row[slot])) {
        while (rank < worklist.size() && worklist.distance(rank) <= rowDistances[slot]) {
          count = addCandidate(worklist.ordinal(rank), worklist.distance(rank), count);
          rank++;
        }
        count = addCandidate(row[slot], rowDistances[slot], count);
      }
    }
    for (; rank < worklist.size(); rank++) {
      count = addCandidate(worklist.ordinal(rank), worklist.distance(rank), count);
    }
    return count;
  }

  private static boolean contains(int[] ordinals, int count, int ordinal) {
    for (int i = 0; i < count; i++) {
      if (ordinals[i] == ordinal) {
        return true;
      }
    }
    return false;
  }

  private int addCandidate(int ordinal, float distance, int count) {
    candidates[count] = ordinal;
    candidateDistances[count] = distance;
    candidateSettled[count] = settledSet.contains(ordinal);
    return count + 1;
  }

  private final class RowSorter extends IntroSorter {
    private int pivotOrdinal;
    private float pivotDistance;

    @Override
    protected void setPivot(int i) {
      pivotOrdinal = row[i];
      pivotDistance = rowDistances[i];
    }

    @Override
    protected int comparePivot(int j) {
      int order = Float.compare(pivotDistance, rowDistances[j]);
      return order != 0 ? order : Integer.compare(pivotOrdinal, row[j]);
    }

    @Override
    protected void swap(int i, int j) {
      int ordinal = row[i];
      row[i] = row[j];
      row[j] = ordinal;
      float distance = rowDistances[i];
      rowDistances[i] = rowDistances[j];
      rowDistances[j] = distance;
      boolean settled = rowSettled[i];
      rowSettled[i] = rowSettled[j];
      rowSettled[j] = settled;
    }
  }
}
