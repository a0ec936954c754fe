package dev.vamana.cuda.lane;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.ResidentSegment;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Items that one call has submitted to a {@link Lane} together. The calling thread makes it, waits
 * for it, reads the results and leaves it; docs/internals/gpu-lanes.md has the states.
 */
public abstract class Ticket {

  private static final int QUEUED = 0;
  private static final int RUNNING = 1;
  private static final int LEFT = 2;
  private static final int DONE = 3;
  private static final int GONE = 4;

  private final List<ResidentSegment> segments;
  private final int[] items;
  private final Thread waiter = Thread.currentThread();
  private final AtomicInteger state = new AtomicInteger(QUEUED);
  private GpuException failure;
  private long submitted;

  /**
   * Makes a ticket of the calling thread, which waits for it.
   *
   * @param segments what the items search, each held once for this ticket
   * @param items indices of the items in their call
   */
  protected Ticket(List<ResidentSegment> segments, int[] items) {
    this.segments = segments;
    this.items = items;
  }

  /** Holds segments for a ticket, each once, and returns them. */
  protected static List<ResidentSegment> hold(List<ResidentSegment> ofItems) {
    List<ResidentSegment> held = new ArrayList<>();
    ResidentSegment last = null;
    for (ResidentSegment segment : ofItems) {
      if (segment.equals(last) == false && held.contains(segment) == false) {
        segment.hold();
        held.add(segment);
      }
      last = segment;
    }
    return held;
  }

  /** Returns the number of items. */
  public final int count() {
    return items.length;
  }

  /** Returns the index of an item in its call. */
  public final int item(int i) {
    return items[i];
  }

  /** Returns the segments of the items. */
  public final List<ResidentSegment> segments() {
    return segments;
  }

  /** Whether waiting is worth spinning for. */
  protected boolean brief() {
    return true;
  }

  /** Whether the device is done with the ticket, after success or failure. */
  public final boolean done() {
    return state.get() == DONE;
  }

  /** Whether a segment of an item is being closed. */
  public final boolean closing() {
    for (ResidentSegment segment : segments) {
      if (segment.lease().closing()) {
        return true;
      }
    }
    return false;
  }

  /** Returns why the device failed, or null. Valid once {@link #done}. */
  public final GpuException failure() {
    return failure;
  }

  /**
   * Returns the result of item {@code i}. Valid once {@link #done} without failure.
   *
   * @throws IOException if the item's segment could not be read
   */
  public abstract DeviceResult result(int i) throws IOException;

  /** Frees the memory of the items. Called once, by the caller or by the lane. */
  protected void free() {}

  /**
   * Ends the calling thread's part: it has read the results, or gives up. If a lane is working on
   * the ticket, the lane frees its memory.
   */
  public final void leave() {
    if (state.compareAndSet(QUEUED, GONE)) {
      release();
      free();
    } else if (state.compareAndSet(RUNNING, LEFT) == false && state.compareAndSet(DONE, GONE)) {
      free();
    }
  }

  void submitted() {
    submitted = System.nanoTime();
  }

  /** Returns when the ticket was submitted. */
  public final long since() {
    return submitted;
  }

  /** Begins the ticket, by the lane. Returns false if its caller has left. */
  final boolean begin() {
    return state.compareAndSet(QUEUED, RUNNING);
  }

  /** Says, on the calling thread, that the result of item {@code i} is not wanted any more. */
  public void unwanted(int i) {}

  /** Whether the caller has left while a lane works on the ticket. */
  protected final boolean left() {
    return state.get() == LEFT;
  }

  /**
   * Ends a ticket that has begun, for the lane. Releases the segments first, so that the caller can
   * close them afterwards.
   *
   * @param why the failure, or null
   */
  final void end(GpuException why) {
    failure = why;
    try {
      release();
    } finally {
      if (state.compareAndSet(RUNNING, DONE)) {
        LockSupport.unpark(waiter);
      } else {
        free();
      }
    }
  }

  private void release() {
    segments.forEach(ResidentSegment::release);
  }
}
