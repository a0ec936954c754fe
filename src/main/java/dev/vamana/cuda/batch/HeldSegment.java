package dev.vamana.cuda.batch;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.SegmentView;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A resident segment shared by a call and its chunks. The last holder's {@link #release} releases
 * the segment.
 */
public final class HeldSegment implements ResidentSegment {

  private final ResidentSegment segment;
  private final AtomicInteger holders = new AtomicInteger(1);

  /** Takes over an acquired segment, with one holder. */
  public HeldSegment(ResidentSegment segment) {
    this.segment = segment;
  }

  /** Adds a holder, which has to call {@link #release}. */
  public void hold() {
    holders.incrementAndGet();
  }

  @Override
  public SegmentView view() {
    return segment.view();
  }

  @Override
  public Placement placement() {
    return segment.placement();
  }

  @Override
  public long descriptor() {
    return segment.descriptor();
  }

  @Override
  public boolean reranksOnDevice() {
    return segment.reranksOnDevice();
  }

  @Override
  public ResidentRows rows() {
    return segment.rows();
  }

  @Override
  public void release() {
    if (holders.decrementAndGet() == 0) {
      segment.release();
    }
  }
}
