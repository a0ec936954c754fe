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
final class FeedBuffers {

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
  private final Buffer[] buffers = new Buffer[COUNT];
  private final int most;
  private int turn;

  /** One buffer with its stream. */
  static final class Buffer {
    private final CudaDriver driver;
    private final int number;
    private final CudaDriver.PinnedMemory pinned;
    private final long stream;
    private Runnable after;
    private boolean busy;

    private Buffer(CudaDriver driver, int number, CudaDriver.PinnedMemory pinned) {
      this.driver = driver;
      this.number = number;
      this.pinned = pinned;
      this.stream = driver.createStream(CudaDriver.Urgency.BACKGROUND);
    }

    /** Returns the buffer's number, from 0. */
    int number() {
      return number;
    }

    /** Returns the buffer, {@link #BYTES} long. */
    MemorySegment memory() {
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
   * Makes buffers.
   *
   * @param most number of buffers, 1 to {@value #COUNT}
   */
  FeedBuffers(CudaDriver driver, SessionHostMemory account, int most) {
    this.driver = driver;
    this.account = account;
    this.most = most;
  }

  /** Returns the number of buffers. */
  int count() {
    return most;
  }

  /**
   * Returns the next buffer, after waiting until the device is done with it. The buffer counts as
   * in use from now on.
   */
  Buffer next() {
    Buffer buffer = buffers[turn];
    if (buffer == null) {
      buffer = make(turn);
      buffers[turn] = buffer;
    }
    turn = (turn + 1) % most;
    buffer.await();
    buffer.busy = true;
    return buffer;
  }

  private Buffer make(int number) {
    account.reserve(BYTES);
    CudaDriver.PinnedMemory pinned = null;
    Buffer made = null;
    try {
      pinned = driver.allocatePinned(BYTES);
      made = new Buffer(driver, number, pinned);
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

  /** Waits until the device is done with all buffers, in the order of their use. */
  void finish() {
    for (int i = 0; i < most; i++) {
      Buffer buffer = buffers[(turn + i) % most];
      if (buffer != null) {
        buffer.await();
      }
    }
  }

  /** Waits for the device after a failure and drops all actions. */
  void drop() {
    GpuException failure = null;
    for (Buffer buffer : buffers) {
      if (buffer != null) {
        try {
          buffer.drop();
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
      Buffer buffer = buffers[i];
      buffers[i] = null;
      if (buffer != null) {
        account.release(BYTES);
        try {
          buffer.pinned.free();
        } finally {
          driver.destroyStream(buffer.stream);
        }
      }
    }
  }
}
