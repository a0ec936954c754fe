package dev.vamana.search;

import dev.vamana.pq.PqEngine;
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

  /**
   * The walk of a query that brings no parameters.
   *
   * @param k hits wanted, at least 1
   */
  default WalkParameters defaultWalk(int k) {
    return WalkParameters.defaults(k);
  }

  /**
   * Whether the executor may be faster than the calling thread where scoring every accepted vector
   * is the better plan. Cheap; changes nothing.
   *
   * @param k hits wanted
   * @param accepted about how many vectors are accepted
   */
  default boolean takesScan(SegmentView segment, int k, int accepted) {
    return false;
  }

  /** Tells of a segment that has been opened, which may be searched from now on. */
  default void opened(SegmentView segment) {}

  /**
   * Tells of a segment whose files are about to be closed. When this returns, the executor reads
   * them no more; items of the segment that are still waiting end with an {@link
   * org.apache.lucene.store.AlreadyClosedException}.
   */
  default void closing(SegmentView segment) {}

  /** Where a segment is now. Cheap; changes nothing. */
  default DevicePresence presence(SegmentView segment) {
    return DevicePresence.NO_DEVICE;
  }

  /**
   * Asks for a segment to be brought to the device before those that nobody asked for, even if that
   * was refused or has failed before. Returns at once; {@link #presence} tells what came of it.
   */
  default void warm(SegmentView segment) {}

  /**
   * Says whether a segment is to be kept on the device: it is brought there as by {@link #warm} and
   * does not make room for segments that nobody wants kept. Holds until the segment is closed or
   * the opposite is said. Returns at once.
   */
  default void keep(SegmentView segment, boolean kept) {}

  /**
   * Takes a segment from the device; it comes back when it is searched or asked for.
   *
   * @return bytes of device memory that are free now, or as soon as launches that use them end
   */
  default long evict(SegmentView segment) {
    return 0;
  }

  /** Trains codebooks and encodes vectors for whoever writes segments. */
  default PqEngine quantizer() {
    return PqEngine.NONE;
  }
}
