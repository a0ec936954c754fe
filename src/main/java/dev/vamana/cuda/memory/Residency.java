package dev.vamana.cuda.memory;

import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import java.io.Closeable;
import java.util.Collections;
import java.util.Set;
import java.util.SortedMap;

/** Decides which segments are on the device, uploads them in the background, and evicts them. */
public interface Residency extends DeviceBudget, Closeable {

  /**
   * Least bytes of the raw vectors of a segment without graph and lists: the CPU scans less in the
   * time that a search by the device takes to plan.
   */
  int LEAST_SCANNED_BYTES = 16_384;

  /**
   * Whether a segment may be on the device: it has a graph or lists, or vectors to scan of {@value
   * #LEAST_SCANNED_BYTES} bytes or more.
   */
  static boolean takes(SegmentView view) {
    return view.isIndexed()
        || (long) view.size() * view.dimension() * view.encoding().byteSize >= LEAST_SCANNED_BYTES;
  }

  /**
   * Registers an opened segment and queues its upload. Returns at once.
   *
   * @param view any segment; ignored unless the device {@linkplain #takes takes} it
   */
  void opened(SegmentView view);

  /**
   * Forgets a segment that is about to be closed. Returns when nothing on the device reads its
   * files any more. Its memory is freed when the last {@link ResidentSegment} is released.
   */
  void closing(SegmentView view);

  /**
   * Returns the segment if it is resident. Otherwise returns null; the CPU has to answer the query,
   * and {@link #absence} returns the reason. An evicted segment is queued again.
   */
  ResidentSegment acquire(SegmentView view);

  /**
   * Returns why a segment is not resident, for messages and counters, for instance "uploading" or
   * "over budget".
   */
  String absence(SegmentView view);

  /** Whether a segment is not resident because the checksum of one of its files is wrong. */
  default boolean damaged(SegmentView view) {
    return Absence.DAMAGED.text().equals(absence(view));
  }

  /** Returns a segment's state. Changes nothing. */
  DevicePresence presence(SegmentView view);

  /**
   * Queues a segment before segments that were only opened, even if an earlier upload of it failed.
   * Returns at once.
   */
  default void warm(SegmentView view) {
    opened(view);
  }

  /**
   * Marks a segment as kept, or not. A kept segment is queued before others and gives way only to
   * other kept segments. Returns at once.
   */
  default void keep(SegmentView view, boolean kept) {
    opened(view);
  }

  /**
   * Removes a segment from the device until the next search of it.
   *
   * @return bytes of device memory that are freed now, or when running launches end
   */
  default long evict(SegmentView view) {
    return 0;
  }

  /**
   * Changes limits and the placements of segments uploaded from now on. Resident segments stay
   * where they are as long as they are within the limits.
   *
   * @param placements placements from which one is chosen for each
   */
  default void adjust(MemoryLimit device, MemoryLimit pageCache, Set<Placement> placements) {}

  @Override
  default boolean reserve(long bytes) {
    return true;
  }

  @Override
  default void release(long bytes) {}

  /** Returns counters and current values by name. */
  default SortedMap<String, Long> counters() {
    return Collections.emptySortedMap();
  }

  /** Forgets everything in a lost context, without calling the driver. */
  void abandon();

  /** Frees everything. */
  @Override
  void close();
}
