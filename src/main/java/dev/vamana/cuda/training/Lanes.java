package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.lang.foreign.MemorySegment;

/**
 * Pinned buffers with a stream each, taken in turns: while the device reads some, threads fill the
 * others. Made on first use and kept, since pinning memory takes longer than most copies. For one
 * thread at a time, bound to the context.
 */
final class Lanes {

  /** Size of a buffer. */
  static final int BYTES = 2 << 20;

  /**
   * How many there are. Of the shapes tried on an H200, 4 to 16 buffers of 1 to 4 MiB, this encoded
   * fastest: a copy of 2 MiB has nearly the bandwidth of long ones, and with 16 of them threads
   * rarely wait for one that is empty.
   */
  static final int COUNT = 16;

  private final CudaDriver driver;
  private final SessionHostMemory account;
  private final Lane[] lanes = new Lane[COUNT];
  private int turn;

  /** One buffer and its stream. */
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
      this.stream = driver.createStream();
    }

    /** Its place among the lanes. */
    int number() {
      return number;
    }

    /** The buffer, {@link #BYTES} long. */
    MemorySegment buffer() {
      return pinned.segment();
    }

    /** The stream in which the buffer is used. */
    long stream() {
      return stream;
    }

    /** What is done with the buffer when the device has ended with it. */
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

    /** Waits for the device and forgets what was to be done with the buffer. */
    private void drop() {
      after = null;
      busy = true;
      await();
    }
  }

  Lanes(CudaDriver driver, SessionHostMemory account) {
    this.driver = driver;
    this.account = account;
  }

  /** The lane whose turn it is, when the device is done with it; in use from now on. */
  Lane next() {
    Lane lane = lanes[turn];
    if (lane == null) {
      lane = make(turn);
      lanes[turn] = lane;
    }
    turn = (turn + 1) % COUNT;
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

  /** Waits until the device is done with all lanes, in the order they were taken in. */
  void finish() {
    for (int i = 0; i < COUNT; i++) {
      Lane lane = lanes[(turn + i) % COUNT];
      if (lane != null) {
        lane.await();
      }
    }
  }

  /** Waits for the device after a failure; what it still did is forgotten. */
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

  /** Frees everything; nothing is in use. */
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
