package dev.vamana.graph;

import java.io.IOException;

/**
 * Builds graphs, on the CPU or for instance on a GPU. Thread-safe.
 *
 * <p>An engine may decline a task, because it is too small or not supported, memory is missing or
 * something failed; {@link #CPU} takes every task.
 */
@FunctionalInterface
public interface GraphEngine {

  /** Builds on the threads of the task. */
  GraphEngine CPU =
      task ->
          new VamanaBuilder(
                  task.distances(), task.parameters(), task.workers(), task.memory(), task.abort())
              .build(task.medoid(), task.existing());

  /** Declines all tasks. */
  GraphEngine NONE = task -> null;

  /**
   * Builds a graph over all vectors of a task. Every node can be reached from the medoid, and no
   * row has more neighbours than the max degree, the same neighbour twice, or its own node.
   *
   * @return the graph, or null if the engine declines
   * @throws IOException if reading vectors fails or the abort check throws
   */
  VamanaGraph build(GraphTask task) throws IOException;
}
