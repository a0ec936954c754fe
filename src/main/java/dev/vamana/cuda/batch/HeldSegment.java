package dev.vamana.cuda.batch;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.SegmentView;
import java.util.concurrent.atomic.AtomicInteger;

/** A resident segment that a call and its chunks hold together; the last one lets go of it. */
public final class HeldSegment implements ResidentSegment {

  private final ResidentSegment segment;
  private final AtomicInteger holders = new AtomicInteger(1);

  /** Takes over an acquired segment, held once. */
  public HeldSegment(ResidentSegment segment) {
    this.segment = segment;
  }

  /** Holds it once more; {@link #release} ends that. */
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
