package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.search.SegmentView;

/**
 * Receives events of segments. The upload thread calls it and waits for it. Only {@link #failed}
 * may call {@link Residency#abandon}.
 */
public interface ResidencyListener {

  /** A listener that ignores all events. */
  ResidencyListener NONE = new ResidencyListener() {};

  /** Called when a segment can be searched on the device. */
  default void uploaded(SegmentView view, Placement placement, long deviceBytes) {}

  /** Called when a segment was evicted. */
  default void evicted(SegmentView view) {}

  /** Called when the driver refused a placement of a segment. Other placements are tried next. */
  default void refused(SegmentView view, GpuException reason) {}

  /**
   * Called when a segment could not be uploaded, so that the CPU searches it, or could not be
   * freed.
   *
   * @param reason a {@link GpuException}, possibly with the context lost, or another error
   */
  default void failed(SegmentView view, Throwable reason) {}
}
