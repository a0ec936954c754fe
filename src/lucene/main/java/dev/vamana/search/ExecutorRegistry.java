package dev.vamana.search;

import dev.vamana.graph.GraphEngine;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.pq.PqEngine;
import java.io.Closeable;
import java.io.IOException;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Holds the executor that all readers of this process use, if any.
 *
 * <p>Lucene opens readers through the format's no-argument SPI instance, to which nothing can be
 * passed, so readers look here at each search. Several installations share one executor: the first
 * creates it, and the last one to be closed closes it.
 */
public final class ExecutorRegistry {

  private static final CpuSearches CPU_SEARCHES = new CpuSearches();

  private static volatile SearchExecutor current;
  // not searched any more, but reads files until its close has returned
  private static volatile SearchExecutor leaving;
  private static int installations;

  private ExecutorRegistry() {}

  /** Returns the installed executor, or null; readers then search on the calling thread. */
  public static SearchExecutor current() {
    return current;
  }

  /** Returns the counters of items answered without an executor. */
  public static CpuSearches cpuSearches() {
    return CPU_SEARCHES;
  }

  /**
   * Returns the engine that trains codebooks and encodes vectors: the installed executor's, or one
   * that leaves all work to the CPU.
   */
  public static PqEngine quantizer() {
    SearchExecutor executor = current;
    return executor == null ? PqEngine.NONE : executor.quantizer();
  }

  /**
   * Builds a graph with the engine of the installed executor, or on the CPU if there is none or it
   * declines.
   *
   * @throws IOException if reading vectors fails or the task's abort check throws
   */
  public static VamanaGraph build(GraphTask task) throws IOException {
    SearchExecutor executor = current;
    VamanaGraph graph = executor == null ? null : executor.graphs().build(task);
    return graph == null ? GraphEngine.CPU.build(task) : graph;
  }

  /** Passes the opening of a segment to the installed executor, if any. */
  public static void opened(SegmentView segment) {
    SearchExecutor executor = current;
    if (executor != null) {
      executor.opened(segment);
    }
  }

  /**
   * Passes the closing of a segment to the installed executor, if any. On return the executor does
   * not read the segment's files any more.
   */
  public static void closing(SegmentView segment) {
    // in this order: an executor that is leaving is noted before it stops being the current one
    SearchExecutor executor = current;
    SearchExecutor last = leaving;
    try {
      if (executor != null) {
        executor.closing(segment);
      }
    } finally {
      if (last != null && last.equals(executor) == false) {
        last.closing(segment);
      }
    }
  }

  /**
   * Installs an executor, or joins the installed one. To be called before readers are opened: files
   * of readers opened earlier may be unmapped without a call of {@link SearchExecutor#closing}.
   *
   * @param factory makes the executor if none is installed
   */
  public static synchronized Installation install(Supplier<SearchExecutor> factory) {
    if (current == null) {
      current = Objects.requireNonNull(factory.get(), "factory made no executor");
    }
    installations++;
    return new Installation(current);
  }

  /** Holds the lock until the last executor has closed: two of them would share a device. */
  private static synchronized void release() throws IOException {
    if (--installations > 0) {
      return;
    }
    SearchExecutor last = current;
    leaving = last;
    current = null;
    try {
      last.close();
    } finally {
      leaving = null;
    }
  }

  /** One user's hold on the installed executor. */
  public static final class Installation implements Closeable {

    private final SearchExecutor executor;
    private boolean closed;

    private Installation(SearchExecutor executor) {
      this.executor = executor;
    }

    /** Returns the installed executor, which another user may have made. */
    public SearchExecutor executor() {
      return executor;
    }

    /** Ends this hold. The last user closes the executor. */
    @Override
    public void close() throws IOException {
      synchronized (this) {
        if (closed) {
          return;
        }
        closed = true;
      }
      release();
    }
  }
}
