package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.lang.foreign.MemorySegment;

/**
 * Pinned buffers, each with a stream, used in turns: while the device reads some, threads fill the
 * others. They are made on first use and kept, since pinning memory takes longer than most copies.
 * For one thread at a time, bound to the context.
 */
final class Lanes {

  /** Bytes of a buffer. */
  static final int BYTES = 2 << 20;

  /**
   * Number of buffers. Of 4 to 16 buffers of 1 to 4 MiB, 16 of 2 MiB encoded fastest on an H200: a
   * copy of 2 MiB has nearly the bandwidth of longer ones, and threads rarely wait for an empty
   * buffer.
   */
  static final int COUNT = 16;

  private final CudaDriver driver;
  private final SessionHostMemory account;
  private final Lane[] lanes = new Lane[COUNT];
  private final int most;
  private int turn;

  /** One buffer with its stream. */
  static final class Lane {
    private final CudaDriver driver;
    private final int number;
    private final CudaDriver.PinnedMemory pinned;
    private final long stream;
    private Runnable after;
    private boolean busy;

    private Lane(CudaDriver driver, int number, CudaDriver.PinnedMemory pinned) {
      this.driver = driver;
      this.number = number;
      this.pinned = pinned;
      this.stream = driver.createStream(CudaDriver.Urgency.BACKGROUND);
    }

    /** Returns the lane's number, from 0. */
    int number() {
      return number;
    }

    /** Returns the buffer, {@link #BYTES} long. */
    MemorySegment buffer() {
      return pinned.segment();
    }

    /** Returns the stream for work with the buffer. */
    long stream() {
      return stream;
    }

    /** Sets an action to run when the device is done with the buffer. */
    void after(Runnable action) {
      after = action;
    }

    private void await() {
      if (busy) {
        Runnable action = after;
        after = null;
        busy = false;
        driver.synchronize(stream);
        if (action != null) {
          action.run();
        }
      }
    }

    /** Waits for the device and drops the action. */
    private void drop() {
      after = null;
      busy = true;
      await();
    }
  }

  /**
   * Makes lanes.
   *
   * @param most number of buffers, 1 to {@value #COUNT}
   */
  Lanes(CudaDriver driver, SessionHostMemory account, int most) {
    this.driver = driver;
    this.account = account;
    this.most = most;
  }

  /** Returns the number of lanes. */
  int count() {
    return most;
  }

  /**
   * Returns the next lane, after waiting until the device is done with it. The lane counts as in
   * use from now on.
   */
  Lane next() {
    Lane lane = lanes[turn];
    if (lane == null) {
      lane = make(turn);
      lanes[turn] = lane;
    }
    turn = (turn + 1) % most;
    lane.await();
    lane.busy = true;
    return lane;
  }

  private Lane make(int number) {
    account.reserve(BYTES);
    CudaDriver.PinnedMemory pinned = null;
    Lane made = null;
    try {
      pinned = driver.allocatePinned(BYTES);
      made = new Lane(driver, number, pinned);
      return made;
    } finally {
      if (made == null) {
        account.release(BYTES);
        if (pinned != null) {
          pinned.free();
        }
      }
    }
  }

  /** Waits until the device is done with all lanes, in the order of their use. */
  void finish() {
    for (int i = 0; i < most; i++) {
      Lane lane = lanes[(turn + i) % most];
      if (lane != null) {
        lane.await();
      }
    }
  }

  /** Waits for the device after a failure and drops all actions. */
  void drop() {
    GpuException failure = null;
    for (Lane lane : lanes) {
      if (lane != null) {
        try {
          lane.drop();
        } catch (GpuException e) {
          failure = e;
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Frees all buffers, which must not be in use. */
  void free() {
    for (int i = 0; i < COUNT; i++) {
      Lane lane = lanes[i];
      lanes[i] = null;
      if (lane != null) {
        account.release(BYTES);
        try {
          lane.pinned.free();
        } finally {
          driver.destroyStream(lane.stream);
        }
      }
    }
  }
}
