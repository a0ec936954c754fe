package dev.vamana.cuda.scan;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.SegmentView;

/**
 * A segment of which the device has nothing: whoever searches it brings its vectors.
 *
 * @param view the segment, open
 */
public record StreamedSegment(SegmentView view) implements ResidentSegment {

  /** Returns null: it is not placed. */
  @Override
  public Placement placement() {
    return null;
  }

  /** Returns 0: it has none. */
  @Override
  public long descriptor() {
    return 0;
  }

  @Override
  public boolean reranksOnDevice() {
    return false;
  }

  @Override
  public ResidentRows rows() {
    return null;
  }

  @Override
  public void release() {}
}
