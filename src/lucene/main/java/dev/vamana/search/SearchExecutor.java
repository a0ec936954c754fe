package dev.vamana.search;

import dev.vamana.graph.GraphEngine;
import dev.vamana.pq.PqEngine;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * Searches batches of work items: the interface between Lucene's readers and the CPU or GPU
 * implementation.
 *
 * <p>A batch may hold items of different segments, fields and requests, since one segment rarely
 * has enough queries at once to fill a device. Implementations are thread-safe and may answer
 * concurrent calls together. For the same walk all implementations return the same hits.
 */
public interface SearchExecutor extends Closeable {

  /** Returns a short name for statistics and messages. */
  String name();

  /**
   * Searches all items and waits for the last.
   *
   * @return one result per item, in order
   * @throws IOException if a segment cannot be read
   * @throws org.apache.lucene.store.AlreadyClosedException if a segment was closed meanwhile
   */
  List<WorkResult> search(List<WorkItem> batch) throws IOException;

  /**
   * Searches one item of a single query, as the only item of a batch.
   *
   * @throws IOException if the segment cannot be read
   */
  default WorkResult answer(WorkItem item) throws IOException {
    return search(List.of(item)).get(0);
  }

  /**
   * Returns the walk of a query that specifies none.
   *
   * @param k number of hits, at least 1
   */
  default WalkParameters defaultWalk(int k) {
    return WalkParameters.defaults(k);
  }

  /** A search that an executor leaves to the calling thread. */
  @FunctionalInterface
  interface LeftSearch {

    /** Called when the search has ended, however it did. */
    void ended();
  }

  /** A left search whose end interests nobody. */
  LeftSearch NOT_MEASURED = () -> {};

  /**
   * Asks who searches one segment for one query. Cheap: small segments are scanned in microseconds,
   * which a work item would double.
   *
   * @param k number of hits
   * @param accepted estimated number of accepted vectors
   * @param scan whether scoring every accepted vector is faster than a walk
   * @return null if {@link #answer} is to be called; otherwise the search that the calling thread
   *     begins now
   */
  default LeftSearch leaves(SegmentView segment, int k, int accepted, boolean scan) {
    return scan || segment.hasLists() ? NOT_MEASURED : null;
  }

  /** Registers an opened segment, which may be searched from now on. */
  default void opened(SegmentView segment) {}

  /**
   * Called before a segment's files are closed. On return the executor does not read them any more;
   * waiting items of the segment fail with an {@link
   * org.apache.lucene.store.AlreadyClosedException}.
   */
  default void closing(SegmentView segment) {}

  /** Returns where a segment is now. Cheap, and changes nothing. */
  default DevicePresence presence(SegmentView segment) {
    return DevicePresence.NO_DEVICE;
  }

  /** Returns the numbers of the devices that have a segment now, in order. Changes nothing. */
  default List<Integer> devices(SegmentView segment) {
    return List.of();
  }

  /**
   * Requests the upload of a segment before segments that were only opened, even if an earlier
   * upload was refused or failed. Returns at once; {@link #presence} returns the outcome.
   */
  default void warm(SegmentView segment) {}

  /**
   * Sets whether a segment is kept on the device. A kept segment is uploaded as by {@link #warm}
   * and is not evicted for segments that are not kept. This holds until the segment is closed or
   * the opposite is set. Returns at once.
   */
  default void keep(SegmentView segment, boolean kept) {}

  /**
   * Removes a segment from the device. It is uploaded again when it is searched or requested.
   *
   * @return bytes of device memory that are freed now, or when running launches end
   */
  default long evict(SegmentView segment) {
    return 0;
  }

  /** Returns the engine that trains codebooks and encodes vectors when segments are written. */
  default PqEngine quantizer() {
    return PqEngine.NONE;
  }

  /** Returns the engine that builds graphs when segments are written; it may decline. */
  default GraphEngine graphs() {
    return GraphEngine.NONE;
  }
}
