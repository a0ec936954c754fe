package dev.vamana.cuda.memory;

import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import java.io.Closeable;
import java.util.Collections;
import java.util.SortedMap;

/** Decides which segments lie on the device, brings them there in the background, and evicts. */
public interface Residency extends Closeable {

  /**
   * Tells of a segment that has been opened; its upload is queued. Returns at once.
   *
   * @param view a segment with a graph, or any other, which is ignored
   */
  void opened(SegmentView view);

  /**
   * Tells of a segment that is about to be closed. Returns when nothing on the device reads its
   * files any more, and frees what it held once the last {@link ResidentSegment} is released.
   */
  void closing(SegmentView view);

  /**
   * The segment if it is ready, or null: then the query is the CPU's, and {@link #absence} tells
   * why. An unknown segment is queued as if it had just been opened.
   */
  ResidentSegment acquire(SegmentView view);

  /** Why a segment is not resident, for counters: for instance "uploading" or "over budget". */
  String absence(SegmentView view);

  /** Whether a segment that is not resident is on its way, so that waiting for it makes sense. */
  default boolean arriving(SegmentView view) {
    return false;
  }

  /** Where a segment is now. Changes nothing. */
  default DevicePresence presence(SegmentView view) {
    return arriving(view)
        ? DevicePresence.waiting(absence(view))
        : DevicePresence.refused(absence(view));
  }

  /**
   * Queues a segment before those that nobody asked for, whatever came of it before. Returns at
   * once.
   */
  default void warm(SegmentView view) {
    opened(view);
  }

  /**
   * Says whether a segment makes room for others that are not kept. One that is to be kept is
   * queued before those that are not. Returns at once.
   */
  default void keep(SegmentView view, boolean kept) {
    opened(view);
  }

  /**
   * Takes a segment from the device until it is asked for again.
   *
   * @return bytes of device memory that are free now, or when the launches that use them end
   */
  default long evict(SegmentView view) {
    return 0;
  }

  /**
   * Sets other limits, and how segments are placed from now on. What lies on the device stays where
   * it is as long as it is within the limits.
   *
   * @param placement of all segments; null to choose for each
   */
  default void adjust(MemoryLimit device, MemoryLimit pageCache, Placement placement) {}

  /**
   * Takes device memory for work that is no segment, or none and returns false: if the budget or
   * the device has less. Nothing is evicted for it. The calling thread is bound to the driver.
   */
  default boolean reserve(long bytes) {
    return true;
  }

  /** Gives back what {@link #reserve} took, once it has been freed. */
  default void release(long bytes) {}

  /** What lies where and what has happened so far, by name. */
  default SortedMap<String, Long> counters() {
    return Collections.emptySortedMap();
  }

  /** Forgets everything that lies in a lost context, without touching the driver. */
  void abandon();

  /** Frees everything. */
  @Override
  void close();
}
