package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.search.SegmentView;

/**
 * Is told what becomes of segments, on the uploading thread, which waits for it. Only {@link
 * #failed} may call {@link Residency#abandon}.
 */
public interface ResidencyListener {

  /** Hears nothing. */
  ResidencyListener NONE = new ResidencyListener() {};

  /** A segment can be searched on the device. */
  default void uploaded(SegmentView view, Placement placement, long deviceBytes) {}

  /** A segment made room for another. */
  default void evicted(SegmentView view) {}

  /** The driver refused a placement of a segment, for which others are tried then. */
  default void refused(SegmentView view, GpuException reason) {}

  /**
   * A segment could not be uploaded and is searched on the CPU, or could not be freed.
   *
   * @param reason a {@link GpuException}, which may say that the context is lost, or any other
   */
  default void failed(SegmentView view, Throwable reason) {}
}
