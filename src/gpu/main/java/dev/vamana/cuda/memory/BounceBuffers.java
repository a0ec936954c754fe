package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import java.lang.foreign.MemorySegment;

/**
 * Pinned buffers, each with a stream, used in turns: while the device reads some, threads fill the
 * others. They are made on first use and kept, since pinning memory takes longer than most copies.
 * For one thread at a time, bound to the context. Uploads have some ({@link DeviceMemory}), and
 * {@code training.TrainingDevice} has others.
 */
public final class BounceBuffers {

  /** Bytes of a buffer of uploads. */
  static final int BYTES = 4 << 20;

  private final CudaDriver driver;
  private final SessionHostMemory account;
  private final Buffer[] all;
  private final int bytes;
  private int turn;

  /** One buffer with its stream. */
  public final class Buffer {
    private final int number;
    private final CudaDriver.PinnedMemory pinned;
    private final long stream;
    private Runnable after;
    private boolean busy;

    private Buffer(int number, CudaDriver.PinnedMemory pinned) {
      this.number = number;
      this.pinned = pinned;
      this.stream = driver.createStream(CudaDriver.Urgency.BACKGROUND);
    }

    /** Returns the buffer's number, from 0. */
    public int number() {
      return number;
    }

    /** Returns its memory. */
    public MemorySegment memory() {
      return pinned.segment();
    }

    /** Returns the buffer's device address. */
    long deviceAddress() {
      return pinned.deviceAddress();
    }

    /** Returns the stream for work with the buffer. */
    public long stream() {
      return stream;
    }

    /** Sets an action to run when the device is done with the buffer. */
    public void after(Runnable action) {
      after = action;
    }

    private void await() {
      if (busy) {
        Runnable action = after;
        after = null;
        driver.synchronize(stream);
        busy = false;
        if (action != null) {
          action.run();
        }
      }
    }
  }

  /**
   * Makes buffers.
   *
   * @param account counts pinned memory
   * @param count number of buffers, at least 1
   * @param bytes bytes of a buffer
   */
  public BounceBuffers(CudaDriver driver, SessionHostMemory account, int count, int bytes) {
    this.driver = driver;
    this.account = account;
    this.all = new Buffer[count];
    this.bytes = bytes;
  }

  /**
   * Returns the next buffer, after waiting until the device is done with it. The buffer counts as
   * in use from now on.
   */
  public Buffer next() {
    if (all[turn] == null) {
      all[turn] = make(turn);
    }
    Buffer buffer = all[turn];
    turn = (turn + 1) % all.length;
    buffer.await();
    buffer.busy = true;
    return buffer;
  }

  private Buffer make(int number) {
    account.reserve(bytes);
    CudaDriver.PinnedMemory pinned = null;
    try {
      pinned = driver.allocatePinned(bytes);
      return new Buffer(number, pinned);
    } catch (Throwable e) {
      account.release(bytes);
      if (pinned != null) {
        pinned.free();
      }
      throw e;
    }
  }

  /** Waits until the device is done with all buffers, in the order of their use. */
  public void finish() {
    GpuException failure = null;
    for (int i = 0; i < all.length; i++) {
      Buffer buffer = all[(turn + i) % all.length];
      try {
        if (buffer != null) {
          buffer.await();
        }
      } catch (GpuException e) {
        failure = e;
        buffer.busy = false;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Waits for the device after a failure and drops all actions. */
  public void drop() {
    for (Buffer buffer : all) {
      if (buffer != null) {
        buffer.after = null;
        buffer.busy = true;
      }
    }
    finish();
  }

  /** Frees all buffers, which must not be in use. */
  public void free() {
    for (int i = 0; i < all.length; i++) {
      Buffer buffer = all[i];
      all[i] = null;
      if (buffer != null) {
        account.release(bytes);
        try {
          buffer.pinned.free();
        } finally {
          driver.destroyStream(buffer.stream);
        }
      }
    }
  }
}
