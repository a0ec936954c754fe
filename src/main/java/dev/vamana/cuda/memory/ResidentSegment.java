package dev.vamana.cuda.memory;

import dev.vamana.search.SegmentView;

/**
 * A segment that a launch may use now. Acquired from {@link Residency#acquire}, once an item, and
 * released when the launch that used it has ended; what it names stays where it is until then.
 */
public interface ResidentSegment {

  /** The segment. */
  SegmentView view();

  /** How it is placed. */
  Placement placement();

  /** Device address of its {@code vamana::Segment} of native-kernels/include/vamana/types.h. */
  long descriptor();

  /** Whether kernels can read exact vectors; otherwise the caller re-ranks. */
  boolean reranksOnDevice();

  /** The exact vectors, or null if kernels cannot read them. */
  ResidentRows rows();

  /** Ends the use. */
  void release();
}
