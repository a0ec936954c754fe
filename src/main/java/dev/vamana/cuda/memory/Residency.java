package dev.vamana.cuda.memory;

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
