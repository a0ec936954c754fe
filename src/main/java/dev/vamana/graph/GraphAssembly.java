package dev.vamana.graph;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.util.FixedBitSet;

/**
 * What the CPU does of a build whose nodes are inserted elsewhere, for instance on a GPU: it brings
 * the rows of an existing graph, says which nodes are to be inserted in which order, takes the
 * finished rows, and repairs reachability.
 */
public final class GraphAssembly {

  private final GraphTask task;
  private final GraphRows rows;
  private final FixedBitSet reused;
  private final int entryPoint;
  private final float[] ranks;

  /** Copies the rows of the task's existing graph, if it has one. */
  public GraphAssembly(GraphTask task) throws IOException {
    BuildParameters parameters = task.parameters();
    this.task = task;
    this.rows = new GraphRows(task.size(), parameters.maxDegree());
    this.reused = new FixedBitSet(task.size());
    this.entryPoint =
        task.existing() == null
            ? task.medoid()
            : new GraphReuse(task.distances(), parameters, task.workers(), task.abort())
                .load(task.existing(), rows, reused, task.medoid());
    this.ranks = new float[rows.maxDegree()];
    for (int i = 0; i < ranks.length; i++) {
      ranks[i] = i;
    }
  }

  /** Returns the node from which insertions start their searches. It needs no insertion itself. */
  public int entryPoint() {
    return entryPoint;
  }

  /** Whether there are rows of an existing graph. */
  public boolean hasRows() {
    return task.existing() != null;
  }

  /**
   * Copies the row of a node of the existing graph; empty if the node is new.
   *
   * @param target room for {@link #slots()} ordinals
   * @return number of neighbours
   */
  public int read(int ordinal, int[] target) {
    return rows.neighbors(ordinal, target);
  }

  /** Most neighbours of a row during the build, with the spare slots. */
  public int slots() {
    return rows.maxDegree();
  }

  /**
   * Returns the nodes that a pass inserts, in order.
   *
   * @param pass 0 or 1, less than the passes of the parameters
   */
  public int[] order(int pass) {
    ExistingGraph existing = task.existing();
    boolean all = pass > 0 && existing != null && existing.passes() < task.parameters().passes();
    int size = task.size();
    int[] nodes = new int[size];
    int count = 0;
    InsertionOrder order = new InsertionOrder(size, task.parameters().seed());
    for (int position = 0; position < size; position++) {
      int node = order.ordinal(position);
      boolean first = pass == 0 && node == entryPoint;
      if (all || (first == false && reused.get(node) == false)) {
        nodes[count++] = node;
      }
    }
    return count == size ? nodes : Arrays.copyOf(nodes, count);
  }

  /** Returns the number of nodes whose rows the existing graph has. */
  public int reused() {
    return reused.cardinality();
  }

  /**
   * Sets a finished row. Several threads may set different rows.
   *
   * @param neighbors distinct ordinals other than the node's, nearest first
   * @param degree number of neighbours, at most the max degree
   */
  public void set(int ordinal, int[] neighbors, int degree) {
    // repair drops the farthest neighbour, so the order serves as distance
    rows.setRow(ordinal, neighbors, ranks, degree);
  }

  /** Makes every node reachable, after all rows have been set. */
  public VamanaGraph finish() throws IOException {
    BuildParameters parameters = task.parameters();
    new Reachability(rows, parameters, task.medoid(), task.distances().create(), task.abort())
        .repair();
    return new VamanaGraph(rows, parameters.maxDegree(), task.medoid(), reused());
  }

  /** Threads of the task. */
  public Workers workers() {
    return task.workers();
  }
}
