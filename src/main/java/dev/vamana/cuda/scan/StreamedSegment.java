package dev.vamana.cuda.scan;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.SegmentView;

/**
 * Stands for a segment that is not on the device; an exact search streams its vectors.
 *
 * @param view the segment, open
 */
public record StreamedSegment(SegmentView view) implements ResidentSegment {

  /** Returns null: the segment has no placement. */
  @Override
  public Placement placement() {
    return null;
  }

  /** Returns 0: the segment has no descriptor. */
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
