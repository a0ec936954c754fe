package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.search.SegmentView;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Items of one call and one shape in one block of pinned memory, on their way through the
 * dispatcher.
 *
 * <p>Either the waiting thread takes the results and frees the memory, or it has given up before
 * and the dispatcher frees it when the device has ended.
 */
public final class Chunk {

  private static final int WAITING = 0;
  private static final int ABANDONED = 1;
  private static final int DONE = 2;

  final WalkShape shape;
  final ChunkSizes sizes;
  final StagingPool.Block block;
  final List<HeldSegment> segments;
  final List<AcceptedBits> bits;
  private final int[] items;
  private final int[] results;
  private final Thread waiter = Thread.currentThread();
  private final AtomicInteger state = new AtomicInteger(WAITING);
  private volatile boolean segmentClosed;
  private GpuException failure;
  private GpuException releaseFailure;
  long submitted;

  /**
   * Makes a chunk of the calling thread, which waits for it.
   *
   * @param items indices of the items in their call
   * @param results offset of each item's result in the block
   */
  Chunk(
      WalkShape shape,
      ChunkSizes sizes,
      StagingPool.Block block,
      List<HeldSegment> segments,
      List<AcceptedBits> bits,
      int[] items,
      int[] results) {
    this.shape = shape;
    this.sizes = sizes;
    this.block = block;
    this.segments = segments;
    this.bits = bits;
    this.items = items;
    this.results = results;
  }

  /** Number of items. */
  public int count() {
    return items.length;
  }

  /** Index of an item in its call. */
  public int item(int i) {
    return items[i];
  }

  /** Offset of an item's result in the block. */
  int result(int i) {
    return results[i];
  }

  /** Whether the device has ended, well or not. */
  public boolean done() {
    return state.get() == DONE;
  }

  /** What went wrong, or null; once {@link #done}. */
  public GpuException failure() {
    return failure;
  }

  /** What went wrong when the segments were released, or null. */
  GpuException releaseFailure() {
    return releaseFailure;
  }

  /** Whether a segment of an item is being closed. */
  public boolean segmentClosed() {
    return segmentClosed;
  }

  /** Tells the waiting thread that a segment is being closed, if one of the items is of it. */
  void closing(SegmentView view) {
    for (HeldSegment segment : segments) {
      if (segment.view().equals(view)) {
        segmentClosed = true;
        LockSupport.unpark(waiter);
        return;
      }
    }
  }

  /** Whether nobody waits any more. */
  boolean abandoned() {
    return state.get() == ABANDONED;
  }

  /** The waiting thread gives up; what the chunk holds is freed as soon as the device has ended. */
  public void abandon() {
    if (state.compareAndSet(WAITING, ABANDONED) == false && state.get() == DONE) {
      freeMemory();
    }
  }

  /** The device has ended with the chunk, or never began. */
  void complete(GpuException why) {
    failure = why;
    for (HeldSegment segment : segments) {
      try {
        segment.release();
      } catch (GpuException e) {
        // whoever waits must hear of the chunk; if the context is lost, the next call finds out
        releaseFailure = e;
      }
    }
    if (state.compareAndSet(WAITING, DONE)) {
      LockSupport.unpark(waiter);
    } else {
      freeMemory();
    }
  }

  /** Frees the memory; by the waiting thread, once it has read the results. */
  public void freeMemory() {
    block.free();
    bits.forEach(AcceptedBits::release);
  }
}
