package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.search.SegmentView;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Items of one call with the same {@link WalkShape}, packed into one block of pinned memory. {@link
 * Packer} makes chunks and the {@link Dispatcher} launches them.
 *
 * <p>The thread that waits for a chunk reads the results and frees the memory. If it has abandoned
 * the chunk before, the dispatcher frees the memory when the device is done with it.
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
  final int together;
  private final Thread waiter = Thread.currentThread();
  private final AtomicInteger state = new AtomicInteger(WAITING);
  private volatile boolean segmentClosed;
  private GpuException failure;
  private GpuException releaseFailure;
  private boolean running;
  long submitted;

  /**
   * Makes a chunk of the calling thread, which waits for it.
   *
   * @param items indices of the items in their call
   * @param results offset of each item's result in the block
   * @param together items of the call, which arrive in one chunk or several
   */
  Chunk(
      WalkShape shape,
      ChunkSizes sizes,
      StagingPool.Block block,
      List<HeldSegment> segments,
      List<AcceptedBits> bits,
      int[] items,
      int[] results,
      int together) {
    this.shape = shape;
    this.sizes = sizes;
    this.block = block;
    this.segments = segments;
    this.bits = bits;
    this.items = items;
    this.results = results;
    this.together = together;
  }

  /** Returns the number of items. */
  public int count() {
    return items.length;
  }

  /** Returns the index of an item in its call. */
  public int item(int i) {
    return items[i];
  }

  /** Returns the offset of an item's result in the block. */
  int result(int i) {
    return results[i];
  }

  /** Whether the device is done with the chunk, after success or failure. */
  public boolean done() {
    return state.get() == DONE;
  }

  /** Returns the failure, or null. Valid once {@link #done}. */
  public GpuException failure() {
    return failure;
  }

  /** Returns the failure to release a segment, or null. */
  GpuException releaseFailure() {
    return releaseFailure;
  }

  /** Whether a segment of an item is being closed. */
  public boolean segmentClosed() {
    return segmentClosed;
  }

  /** Marks the chunk and wakes its waiting thread if one of its items searches the segment. */
  void closing(SegmentView view) {
    for (HeldSegment segment : segments) {
      if (segment.view().equals(view)) {
        segmentClosed = true;
        LockSupport.unpark(waiter);
        return;
      }
    }
  }

  /** Whether the waiting thread has given up. */
  boolean abandoned() {
    return state.get() == ABANDONED;
  }

  /**
   * Gives up waiting, by the waiting thread. The chunk's memory is freed as soon as the device is
   * done with it.
   */
  public void abandon() {
    if (state.compareAndSet(WAITING, ABANDONED) == false && state.get() == DONE) {
      freeMemory();
    }
  }

  /**
   * Ends the chunk: the device is done with it, or never started it.
   *
   * @param why the failure, or null
   */
  void complete(GpuException why) {
    failure = why;
    for (HeldSegment segment : segments) {
      try {
        segment.release();
      } catch (GpuException e) {
        // the waiting thread must be told of the chunk in any case; if the context is lost, the
        // next call finds out
        releaseFailure = e;
      }
    }
    if (state.compareAndSet(WAITING, DONE)) {
      LockSupport.unpark(waiter);
    } else {
      freeMemory();
    }
  }

  /**
   * Ends a chunk of a lost context while the device may still be working on it: nobody else gets
   * its memory, which goes with the context.
   */
  void leave(GpuException why) {
    running = true;
    complete(why);
  }

  /** Frees the memory. The waiting thread calls this after it has read the results. */
  public void freeMemory() {
    if (running) {
      return;
    }
    block.free();
    bits.forEach(AcceptedBits::release);
  }
}
