package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.GpuException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An uploaded segment with a count of its uses. After it is retired it cannot be acquired any more.
 * The thread that ends its last use after that, or that retires it unused, has it freed. {@link
 * SegmentUpload} makes it, {@link SegmentEntry} has it.
 */
final class Resident implements ResidentSegment {

  private static final int RETIRED = Integer.MIN_VALUE;

  private final Lease lease;
  private final PlacementPlan plan;
  private final DeviceMemory memory;
  private final long block;
  private final ResidentRows rows;
  private final boolean whole;
  private final List<MappedRegistrations.Range> ranges;
  private final ResidentBits bits;
  private final AtomicInteger uses = new AtomicInteger();
  private Runnable whenIdle = () -> {};
  private boolean freed;

  /**
   * Takes over the resources of an upload.
   *
   * @param raw device address of the raw vectors, or 0
   * @param whole as of {@link ResidentSegment#wholeCopies}
   */
  Resident(
      Lease lease,
      PlacementPlan plan,
      DeviceMemory memory,
      long block,
      long raw,
      boolean whole,
      List<MappedRegistrations.Range> ranges) {
    this.lease = lease;
    this.plan = plan;
    this.memory = memory;
    this.block = block;
    this.rows =
        raw == 0 ? null : new ResidentRows(raw, plan.rawStride(), plan.raw() == RawVectors.DEVICE);
    this.whole = whole;
    this.bits = new ResidentBits(block + plan.bits(), plan.bitsBytes());
    this.ranges = ranges;
  }

  @Override
  public Lease lease() {
    return lease;
  }

  @Override
  public Placement placement() {
    return plan.placement();
  }

  @Override
  public long descriptor() {
    return block;
  }

  @Override
  public boolean wholeCopies() {
    return whole;
  }

  @Override
  public boolean reranksOnDevice() {
    return plan.raw() != RawVectors.CALLER;
  }

  @Override
  public ResidentRows rows() {
    return rows;
  }

  @Override
  public ResidentBits bits() {
    return bits;
  }

  PlacementPlan plan() {
    return plan;
  }

  DeviceMemory memory() {
    return memory;
  }

  /** Whether kernels read the segment's files in place. */
  boolean readsFiles() {
    return plan.mappedBytes() > 0;
  }

  /**
   * Sets the action that runs once, when the last use after retirement ends. To be called before
   * any use.
   */
  void whenIdle(Runnable action) {
    whenIdle = action;
  }

  /** Begins a use, or returns null if it is retired. */
  ResidentSegment use() {
    for (; ; ) {
      int count = uses.get();
      if (count < 0) {
        return null;
      }
      if (uses.compareAndSet(count, count + 1)) {
        return this;
      }
    }
  }

  @Override
  public void hold() {
    uses.incrementAndGet();
  }

  @Override
  public void release() {
    if (uses.decrementAndGet() == RETIRED) {
      whenIdle.run();
    }
  }

  /** Prevents further uses. Returns whether it is unused. */
  boolean retire() {
    return (uses.getAndUpdate(count -> count | RETIRED) & ~RETIRED) == 0;
  }

  /** Prevents further uses if it is unused, or returns false. */
  boolean retireUnused() {
    return uses.compareAndSet(0, RETIRED);
  }

  /** Whether it is in use. */
  boolean inUse() {
    return (uses.get() & ~RETIRED) != 0;
  }

  /** Whether it is retired and unused. */
  boolean idle() {
    return uses.get() == RETIRED;
  }

  /**
   * Frees all resources. Does nothing if they have been freed or the context is lost. On return
   * they are free, whichever thread freed them.
   */
  synchronized void free() {
    if (freed) {
      return;
    }
    freed = true;
    if (memory.enter()) {
      try {
        free(memory, plan.deviceBytes(), block, ranges);
      } finally {
        memory.exit();
      }
    }
  }

  /**
   * Frees a block and ends registrations; the context is bound.
   *
   * @throws GpuException as a lost context if anything fails; the budget is released nevertheless
   */
  static void free(
      DeviceMemory memory, long bytes, long block, List<MappedRegistrations.Range> ranges) {
    GpuException failure = null;
    for (MappedRegistrations.Range range : ranges) {
      try {
        range.release();
      } catch (GpuException e) {
        failure = e;
      }
    }
    try {
      if (block != 0) {
        memory.driver().free(block);
      }
    } catch (GpuException e) {
      failure = e;
    }
    memory.device().release(bytes);
    if (failure != null) {
      // only closing the context gives back what the driver would not
      throw failure.asLoss();
    }
  }
}
