package dev.vamana.search;

import dev.vamana.pq.PqEngine;
import java.io.Closeable;
import java.io.IOException;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * The executor that readers of this process use, if any.
 *
 * <p>Lucene opens readers through the format's no-argument SPI instance, which cannot be handed
 * anything; so readers look here at each search. Several installations share one executor: the
 * first creates it, the last one to be closed closes it.
 */
public final class ExecutorRegistry {

  private static final CpuSearches CPU_SEARCHES = new CpuSearches();

  private static volatile SearchExecutor current;
  // not searched any more, but reads files until its close has returned
  private static volatile SearchExecutor leaving;
  private static int installations;

  private ExecutorRegistry() {}

  /** The installed executor, or null: readers then search on the calling thread. */
  public static SearchExecutor current() {
    return current;
  }

  /** What readers of this process answered without an executor. */
  public static CpuSearches cpuSearches() {
    return CPU_SEARCHES;
  }

  /** Trains codebooks and encodes vectors, with the installed executor if there is one. */
  public static PqEngine quantizer() {
    SearchExecutor executor = current;
    return executor == null ? PqEngine.NONE : executor.quantizer();
  }

  /** Tells the installed executor, if any, of a segment that has been opened. */
  public static void opened(SegmentView segment) {
    SearchExecutor executor = current;
    if (executor != null) {
      executor.opened(segment);
    }
  }

  /**
   * Tells the installed executor, if any, of a segment whose files are about to be closed. When
   * this returns, the executor reads them no more.
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
   * Installs an executor, or joins the one that is installed. Install it before readers are opened:
   * files of those that are open already may be unmapped before {@link SearchExecutor#closing} says
   * so.
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

    /** The executor that is installed, which another user may have made. */
    public SearchExecutor executor() {
      return executor;
    }

    /** Lets go of the executor; the last user closes it. */
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
