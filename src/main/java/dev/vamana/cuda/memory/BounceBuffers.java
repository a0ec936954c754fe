package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import java.lang.foreign.MemorySegment;

/**
 * Two pinned buffers, each with a stream, used in turns: while one is copied to the device, the
 * next rows are read into the other. For one thread that is bound to the context.
 */
final class BounceBuffers {

  /** Bytes of a buffer. */
  static final int BYTES = 4 << 20;

  private static final int COUNT = 2;

  private final CudaDriver driver;
  private final Lane[] lanes = new Lane[COUNT];
  private int turn;

  /** One buffer with its stream. */
  final class Lane {
    private final long stream;
    private final CudaDriver.PinnedMemory pinned;
    private boolean busy;

    private Lane() {
      stream = driver.createStream(CudaDriver.Urgency.BACKGROUND);
      CudaDriver.PinnedMemory memory = null;
      try {
        memory = driver.allocatePinned(BYTES);
      } finally {
        if (memory == null) {
          driver.destroyStream(stream);
        }
      }
      pinned = memory;
    }

    /** Returns the buffer, {@link #BYTES} long. */
    MemorySegment buffer() {
      return pinned.segment();
    }

    /** Returns the buffer's device address. */
    long deviceAddress() {
      return pinned.deviceAddress();
    }

    /** Returns the stream for work with the buffer. */
    long stream() {
      return stream;
    }

    private void await() {
      if (busy) {
        driver.synchronize(stream);
        busy = false;
      }
    }

    private void close() {
      try {
        pinned.free();
      } finally {
        driver.destroyStream(stream);
      }
    }
  }

  /** Allocates the buffers. */
  BounceBuffers(CudaDriver driver) {
    this.driver = driver;
    boolean success = false;
    try {
      for (int i = 0; i < COUNT; i++) {
        lanes[i] = new Lane();
      }
      success = true;
    } finally {
      if (success == false) {
        close();
      }
    }
  }

  /**
   * Returns the next buffer, after waiting until the device is done with it. The buffer counts as
   * in use from now on.
   */
  Lane next() {
    Lane lane = lanes[turn];
    turn = (turn + 1) % COUNT;
    lane.await();
    lane.busy = true;
    return lane;
  }

  /** Waits until the device is done with all buffers. */
  void finish() {
    GpuException failure = null;
    for (Lane lane : lanes) {
      try {
        lane.await();
      } catch (GpuException e) {
        failure = e;
        lane.busy = false;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  void close() {
    for (Lane lane : lanes) {
      if (lane != null) {
        lane.close();
      }
    }
  }
}
