package dev.vamana.elasticsearch.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.apache.lucene.index.DirectoryReader;
import org.elasticsearch.common.util.concurrent.EsRejectedExecutionException;
import org.elasticsearch.core.RefCounted;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Closes the readers of a shard that refreshes have replaced, so that no search has to.
 *
 * <p>Whoever gives a reader back last closes it, and with it the segments that a merge has
 * replaced: files are unmapped, which waits for all threads of the JVM, then deleted, and a device
 * gives each segment up. That would be a search that began before the refresh. So a reader that is
 * about to be replaced is also held here, until nobody else holds it. Thread-safe.
 */
final class ReplacedReaders {

  private static final Logger logger = LogManager.getLogger(ReplacedReaders.class);

  /** How long files stay open at most after the last search has given their reader back. */
  private static final TimeValue PAUSE = TimeValue.timeValueMillis(100);

  private final RefCounted store;
  private final Consumer<Runnable> later;
  private final List<DirectoryReader> held = new ArrayList<>();
  private DirectoryReader newest;
  private boolean waiting;

  /**
   * Makes an instance that holds nothing.
   *
   * @param store what must stay open as long as a reader of it is open
   * @param later runs a task in a while on a thread that may close files. It throws {@link
   *     EsRejectedExecutionException} if it runs none any more; readers are given back at once then
   */
  ReplacedReaders(RefCounted store, Consumer<Runnable> later) {
    this.store = store;
    this.later = later;
  }

  /** Returns a way to run tasks in a while on the node's generic threads. */
  static Consumer<Runnable> generic(ThreadPool threads) {
    return task -> threads.schedule(task, PAUSE, threads.generic());
  }

  /** Makes the warmer of an engine, which gets each reader before it replaces the one before. */
  Engine.Warmer warmer(Engine.Warmer inner) {
    return reader -> {
      replaced(reader);
      if (inner != null) {
        inner.warm(reader);
      }
    };
  }

  // equal readers are the same reader
  private synchronized void replaced(DirectoryReader reader) {
    DirectoryReader last = newest;
    newest = reader;
    if (last == null || last.equals(reader) || store.tryIncRef() == false) {
      return;
    }
    // fails for a reader that no search ever got, since its refresh failed
    if (last.tryIncRef()) {
      held.add(last);
      await();
    } else {
      store.decRef();
    }
  }

  private synchronized void await() {
    if (waiting || held.isEmpty()) {
      return;
    }
    waiting = true;
    try {
      later.accept(this::closeUnused);
    } catch (EsRejectedExecutionException e) {
      waiting = false;
      List<DirectoryReader> all = List.copyOf(held);
      held.clear();
      all.forEach(this::giveBack);
    }
  }

  private void closeUnused() {
    List<DirectoryReader> unused = new ArrayList<>();
    synchronized (this) {
      waiting = false;
      for (Iterator<DirectoryReader> all = held.iterator(); all.hasNext(); ) {
        DirectoryReader reader = all.next();
        // the count does not rise again: new searches get a newer reader
        if (reader.getRefCount() == 1) {
          all.remove();
          unused.add(reader);
        }
      }
    }
    // without the lock, since refreshes must not wait either
    unused.forEach(this::giveBack);
    await();
  }

  private void giveBack(DirectoryReader reader) {
    try {
      reader.decRef();
    } catch (IOException | RuntimeException e) {
      logger.warn("a replaced reader was not closed properly", e);
    } finally {
      store.decRef();
    }
  }
}
