package dev.vamana.cuda.training;

import dev.vamana.cuda.kernel.BuildLayouts.KMeansSizes;
import dev.vamana.cuda.memory.BounceBuffers;
import dev.vamana.pq.RowSource;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Streams rows to the device through {@link BounceBuffers}. Several threads fill the buffers, a few
 * rows at a time, and continue with the next buffer without waiting for each other. The calling
 * thread sends each full buffer to the device, in order, and helps to fill if there are few other
 * threads. So reading, copying and device work overlap, and threads are woken once.
 *
 * <p>An instance is for one run, by the thread that holds the buffers.
 */
final class RowFeed {

  /** Bytes of a buffer. */
  static final int BYTES = 2 << 20;

  /**
   * Number of buffers. Of 4 to 16 buffers of 1 to 4 MiB, 16 of 2 MiB encoded fastest on an H200: a
   * copy of 2 MiB has nearly the bandwidth of longer ones, and threads rarely wait for an empty
   * buffer.
   */
  static final int COUNT = 16;

  /** Rows that a thread fills at a time, and between two calls of the abort check. */
  private static final int PIECE = 64;

  /**
   * Number of buffers in use by the device before the oldest is waited for. The remaining buffers
   * keep the device busy meanwhile.
   */
  private static final int UNDER_WAY = COUNT / 2;

  /**
   * Number of other threads from which the calling thread only sends. These threads fill buffers
   * faster than the device empties them, and a full buffer should not wait until the calling thread
   * has filled a piece.
   */
  private static final int ENOUGH_HELPERS = 4;

  private static final int SPINS = 200;
  private static final int STEPS_PER_CHECK = 64;
  private static final long PARK_NANOS = 10_000;

  private final BounceBuffers ring;
  private final RowSource source;
  private final int count;
  private final int dims;
  private final int together;
  private final Sender sender;
  private final AbortCheck abort;
  private final int buffers;
  private final int pieces;
  private final AtomicInteger nextPiece = new AtomicInteger();
  private final AtomicInteger helpers = new AtomicInteger();
  private final AtomicBoolean failed = new AtomicBoolean();
  private final BounceBuffers.Buffer[] open = new BounceBuffers.Buffer[COUNT];
  // rows of each open buffer that are still to be filled
  private final AtomicIntegerArray missing = new AtomicIntegerArray(COUNT);
  // number of buffers opened so far; the owner writes it after the buffer's other fields
  private volatile int opened;
  private int sent;
  private Thread owner;

  /** Starts device work on the rows of a full buffer. */
  @FunctionalInterface
  interface Sender {
    /** Called in the order of the rows. Starts work in the buffer's stream and does not wait. */
    void send(BounceBuffers.Buffer buffer, int first, int count);
  }

  /**
   * Makes a feed of rows {@code 0 <= row < count}.
   *
   * @param together rows of a buffer, at least 1
   * @param abort called by all threads
   */
  RowFeed(
      BounceBuffers ring,
      RowSource source,
      int count,
      int dims,
      int together,
      Sender sender,
      AbortCheck abort) {
    this.ring = ring;
    this.source = source;
    this.count = count;
    this.dims = dims;
    this.together = together;
    this.sender = sender;
    this.abort = abort;
    this.buffers = (int) (((long) count + together - 1) / together);
    this.pieces = (int) (((long) count + PIECE - 1) / PIECE);
  }

  /**
   * Returns the rows of a buffer if each takes {@code bytes} bytes: as many as fit, rounded down to
   * whole kernel blocks if at least one fits.
   */
  static int rowsTogether(int bytes) {
    int fitting = Math.max(1, BYTES / bytes);
    int unit = KMeansSizes.SHORT_ROWS;
    return fitting < unit ? fitting : fitting / unit * unit;
  }

  /**
   * Feeds all rows. The device may still be working on the last of them when this returns.
   *
   * @param workers threads that fill the buffers
   * @throws IOException from the source or the abort check, unchanged
   */
  void run(Workers workers) throws IOException {
    owner = Thread.currentThread();
    while (opened < Math.min(COUNT, buffers)) {
      openNext();
    }
    workers.together(pieces, this::work);
  }

  private void work() throws IOException {
    try {
      if (owns() == false) {
        helpers.incrementAndGet();
      }
      fillPieces();
      for (int step = 0; owns() && sent < buffers && failed.get() == false; step++) {
        if (advance(true) == false) {
          pause(step);
        }
      }
    } catch (Throwable e) {
      // several threads may catch the same exception object, but only one may throw it
      if (failed.compareAndSet(false, true)) {
        throw e;
      }
    }
  }

  private boolean owns() {
    return Thread.currentThread().equals(owner);
  }

  private void fillPieces() throws IOException {
    RowSource.Reader reader = null;
    float[] scratch = null;
    int piece;
    while (failed.get() == false
        && (owns() == false || helpers.get() < ENOUGH_HELPERS)
        && (piece = nextPiece.getAndIncrement()) < pieces) {
      abort.check();
      if (reader == null) {
        reader = source.open();
        scratch = new float[dims];
      }
      int from = piece * PIECE;
      int to = from + Math.min(PIECE, count - from);
      while (from < to && awaitOpen(from / together)) {
        int buffer = from / together;
        int end = (int) Math.min(to, (buffer + 1L) * together);
        fill(reader, scratch, buffer, from, end);
        from = end;
      }
      if (owns()) {
        advance(false);
      }
    }
  }

  private void fill(RowSource.Reader reader, float[] scratch, int buffer, int from, int to)
      throws IOException {
    int slot = buffer % COUNT;
    MemorySegment target = open[slot].memory();
    int first = buffer * together;
    for (int row = from; row < to; row++) {
      reader.read(row, scratch, target, (long) (row - first) * dims * Float.BYTES);
    }
    missing.addAndGet(slot, from - to);
  }

  /** Waits until a buffer is open. Returns false if the feed has failed. */
  private boolean awaitOpen(int buffer) throws IOException {
    for (int step = 0; opened <= buffer; step++) {
      if (failed.get()) {
        return false;
      }
      if (owns() == false || advance(true) == false) {
        pause(step);
      }
    }
    return true;
  }

  private void pause(int step) throws IOException {
    if (step < SPINS) {
      Thread.onSpinWait();
      return;
    }
    LockSupport.parkNanos(this, PARK_NANOS);
    if (step % STEPS_PER_CHECK == 0) {
      abort.check();
    }
  }

  /**
   * Sends full buffers and opens the next ones. Only the owner calls this.
   *
   * @param waiting whether the owner has nothing to do but wait for the device
   * @return whether any buffer was sent or opened
   */
  private boolean advance(boolean waiting) {
    boolean any = false;
    while (sent < opened && missing.get(sent % COUNT) == 0) {
      int first = sent * together;
      sender.send(open[sent % COUNT], first, Math.min(together, count - first));
      sent++;
      any = true;
    }
    int behind = waiting ? 0 : UNDER_WAY;
    while (opened < buffers && opened - COUNT < sent - behind) {
      openNext();
      any = true;
      if (waiting) {
        break;
      }
    }
    return any;
  }

  private void openNext() {
    int buffer = opened;
    int slot = buffer % COUNT;
    open[slot] = ring.next();
    missing.set(slot, Math.min(together, count - buffer * together));
    opened = buffer + 1;
  }
}
