package dev.vamana.elasticsearch.codebook.sample;

import java.util.concurrent.atomic.AtomicLong;

/** Limits the heap of all samples on this node together. Thread-safe. */
public final class SampleMemory {
  private final long limit;
  private final AtomicLong used = new AtomicLong();

  /** Makes a limit of {@code limit} bytes, 0 or more. */
  public SampleMemory(long limit) {
    this.limit = limit;
  }

  /** Most bytes that can be reserved. */
  public long limit() {
    return limit;
  }

  /** Bytes reserved now. */
  public long used() {
    return used.get();
  }

  /**
   * Reserves as many rows as fit in the limit.
   *
   * @param rows most rows to reserve
   * @param rowBytes bytes of a row, at least 1
   * @return number of rows reserved, 0 to {@code rows}
   */
  int reserveRows(int rows, long rowBytes) {
    while (true) {
      long before = used.get();
      int fitting = (int) Math.min(rows, Math.max(0, limit - before) / rowBytes);
      if (used.compareAndSet(before, before + fitting * rowBytes)) {
        return fitting;
      }
    }
  }

  /** Returns rows to the limit. */
  void releaseRows(int rows, long rowBytes) {
    used.addAndGet(-rows * rowBytes);
  }

  /**
   * Reserves memory for the vectors of one training.
   *
   * @param rows most vectors to reserve memory for
   * @param dims dimension of the vectors
   * @return the reservation; {@link Lease#rows} may be smaller than requested
   */
  public Lease lease(int rows, int dims) {
    long rowBytes = Sample.rowBytes(dims);
    return new Lease(this, reserveRows(rows, rowBytes), rowBytes);
  }

  /** Rows reserved until closed. Closing it again has no effect. */
  public static final class Lease implements AutoCloseable {
    private final SampleMemory memory;
    private final int rows;
    private final long rowBytes;
    private boolean closed;

    private Lease(SampleMemory memory, int rows, long rowBytes) {
      this.memory = memory;
      this.rows = rows;
      this.rowBytes = rowBytes;
    }

    /** Number of vectors that fit in the reservation. */
    public int rows() {
      return rows;
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        memory.releaseRows(rows, rowBytes);
      }
    }
  }
}
