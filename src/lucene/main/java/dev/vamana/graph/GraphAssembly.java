package dev.vamana.graph;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import org.apache.lucene.util.FixedBitSet;

/**
 * The part of the CPU in a build whose nodes are inserted elsewhere, for instance on a GPU: it
 * copies the rows of an existing graph, lists the nodes that are to be inserted, takes the finished
 * rows into native memory, and repairs reachability.
 */
public final class GraphAssembly implements AutoCloseable {

  private static final int NO_NODE = -1;

  private final GraphTask task;
  // the first of the task's, or null
  private final ExistingGraph existing;
  // null if there is no existing graph
  private final FixedBitSet reused;
  private final int entryPoint;
  private GraphRows existingRows;
  private NativeRows rows;
  private FutureTask<NativeRows> allocation;

  /** Copies the rows of the task's largest existing graph, if it has one. */
  public GraphAssembly(GraphTask task) throws IOException {
    BuildParameters parameters = task.parameters();
    this.task = task;
    this.existing = task.existing().isEmpty() ? null : task.existing().get(0);
    this.reused = existing == null ? null : new FixedBitSet(task.size());
    if (existing == null) {
      this.entryPoint = task.medoid();
    } else {
      GraphRows copied =
          new GraphRows(task.size(), parameters.maxDegree(), task.memory(), task.abort());
      try {
        this.entryPoint =
            new GraphReuse(task.distances(), parameters, task.workers(), task.abort())
                .load(existing, copied, reused, task.medoid());
        this.existingRows = copied;
      } finally {
        if (existingRows == null) {
          copied.close();
        }
      }
    }
  }

  /** Returns the node from which insertions start their searches. It needs no insertion itself. */
  public int entryPoint() {
    return entryPoint;
  }

  /** Reads the rows of an existing graph. */
  public interface RowReader {
    /** Copies a row; returns the number of neighbours, 0 if the node is new. */
    int read(int ordinal, int[] target);
  }

  /**
   * Returns the rows of the existing graph, of at most the max degree, or null if there is none.
   */
  public RowReader existing() {
    return existingRows == null ? null : existingRows::neighbors;
  }

  /** Frees the rows of the existing graph. */
  public void forgetExisting() {
    if (existingRows != null) {
      existingRows.close();
      existingRows = null;
    }
  }

  /**
   * Returns the nodes that a pass inserts, in order.
   *
   * @param pass 0 or 1, less than the passes of the parameters
   */
  public NodeOrder order(int pass) {
    boolean all = pass > 0 && existing != null && existing.passes() < task.parameters().passes();
    return new NodeOrder(
        task.size(),
        task.parameters().seed(),
        all ? null : reused,
        pass == 0 ? entryPoint : NO_NODE);
  }

  /**
   * Allocates the memory of the finished rows, on another thread if one is free. It takes a while,
   * because all of it is cleared.
   */
  public void allocateRows() {
    allocation =
        new FutureTask<>(
            () ->
                new NativeRows(
                    task.size(), task.parameters().maxDegree(), task.memory(), task.abort()));
    try {
      task.workers().executor().execute(allocation);
    } catch (RejectedExecutionException e) {
      // the calling thread allocates when it needs the rows
    }
  }

  /**
   * Waits for the memory of {@link #allocateRows}.
   *
   * @throws IOException if there is none
   */
  public void awaitRows() throws IOException {
    if (rows == null) {
      FutureTask<NativeRows> pending = allocation;
      allocation = null;
      // unless another thread has begun
      pending.run();
      boolean interrupted = false;
      while (rows == null) {
        try {
          rows = pending.get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          if (e.getCause() instanceof IOException failure) {
            throw failure;
          }
          throw new IllegalStateException("no memory for the rows of a graph", e.getCause());
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Sets finished rows of consecutive nodes, after {@link #awaitRows}.
   *
   * @param source rows of distinct ordinals other than the node's, nearest first, at most the max
   *     degree of them, followed by {@link StoredAdjacency#UNUSED}
   * @param rowBytes bytes between rows, at least 4 for each slot of {@link StoredAdjacency#stride}
   */
  public void set(int first, int count, MemorySegment source, long rowBytes) {
    for (int i = 0; i < count; i++) {
      rows.set(first + i, source, i * rowBytes);
    }
  }

  /**
   * Makes every node reachable, after all rows have been set, and hands the rows over. The caller
   * closes the graph.
   *
   * @param tree by node, the node before it in a search tree from the medoid, or -1; null if every
   *     node can be reached. Changed, and left to the caller to close
   */
  public VamanaGraph finish(NodeNumbers tree) throws IOException {
    BuildParameters parameters = task.parameters();
    if (tree != null) {
      new Reachability(
              rows,
              parameters,
              task.medoid(),
              task.distances().create(),
              task.memory(),
              task.abort())
          .repair(tree);
    }
    VamanaGraph graph =
        new VamanaGraph(
            rows, parameters.maxDegree(), task.medoid(), reused == null ? 0 : reused.cardinality());
    rows = null;
    return graph;
  }

  /** Frees the rows, unless they were handed over. */
  @Override
  public void close() throws IOException {
    forgetExisting();
    if (allocation != null && allocation.cancel(false) == false) {
      try {
        awaitRows();
      } catch (IOException | RuntimeException e) {
        // there are no rows to free, and the build has failed already
      }
    }
    if (rows != null) {
      rows.close();
      rows = null;
    }
  }
}
