package dev.vamana.cuda.build;

import dev.vamana.graph.GraphAssembly;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.NodeNumbers;
import dev.vamana.graph.VamanaGraph;
import java.io.IOException;

/**
 * The rows of a graph that {@link DeviceBuilder} has built, in memory of the host. What is left to
 * do needs neither the device nor its context.
 */
public final class BuiltRows implements AutoCloseable {

  private final GraphAssembly assembly;
  // null if every node can be reached
  private NodeNumbers tree;

  private BuiltRows(GraphAssembly assembly) {
    this.assembly = assembly;
  }

  /**
   * Begins a graph: takes over the rows of the task's existing graph, if it has one. This is the
   * CPU's work and needs no device.
   *
   * @throws IOException from reading the vectors or the abort check, unchanged
   */
  public static BuiltRows begin(GraphTask task) throws IOException {
    return new BuiltRows(new GraphAssembly(task));
  }

  GraphAssembly assembly() {
    return assembly;
  }

  /** Takes over the search tree that shows which nodes can be reached; null if all can. */
  void reached(NodeNumbers newTree) {
    tree = newTree;
  }

  /**
   * Makes every node reachable and hands the graph over. Called once.
   *
   * @throws IOException from reading the vectors or the abort check, unchanged
   */
  public VamanaGraph finish() throws IOException {
    return assembly.finish(tree);
  }

  /** Frees what was not handed over. */
  @Override
  public void close() throws IOException {
    try {
      if (tree != null) {
        tree.close();
      }
    } finally {
      assembly.close();
    }
  }
}
