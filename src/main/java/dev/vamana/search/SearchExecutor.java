package dev.vamana.search;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * Searches batches of work items: the seam between Lucene's reader and whatever does the work.
 *
 * <p>A batch may hold items of different segments, fields and requests, since a single segment
 * rarely sees enough queries at once to fill a device. Implementations are thread-safe; concurrent
 * calls may be answered together. For the same walk all implementations give the same hits.
 */
public interface SearchExecutor extends Closeable {

  /** Short name for statistics and messages. */
  String name();

  /**
   * Searches all items and waits for the last.
   *
   * @return one result an item, in the order of the items
   * @throws IOException if a segment cannot be read
   * @throws org.apache.lucene.store.AlreadyClosedException if a segment was closed meanwhile
   */
  List<WorkResult> search(List<WorkItem> batch) throws IOException;

  /** Tells of a segment that has been opened, which may be searched from now on. */
  default void opened(SegmentView segment) {}

  /**
   * Tells of a segment whose files are about to be closed. When this returns, the executor reads
   * them no more; items of the segment that are still waiting end with an {@link
   * org.apache.lucene.store.AlreadyClosedException}.
   */
  default void closing(SegmentView segment) {}
}
