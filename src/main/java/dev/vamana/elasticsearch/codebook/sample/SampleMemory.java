package dev.vamana.elasticsearch.codebook.sample;

import java.util.concurrent.atomic.AtomicLong;

/** The heap that samples of this node may take together. Thread-safe. */
public final class SampleMemory {
  private final long limit;
  private final AtomicLong used = new AtomicLong();

  /** A budget of {@code limit} bytes, 0 or more. */
  public SampleMemory(long limit) {
    this.limit = limit;
  }

  /** The most bytes that may be reserved. */
  public long limit() {
    return limit;
  }

  /** Bytes that are reserved now. */
  public long used() {
    return used.get();
  }

  /**
   * Reserves as many rows as fit.
   *
   * @param rows most rows wanted
   * @param rowBytes bytes of a row, at least 1
   * @return rows reserved, 0 to {@code rows}
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

  /** Gives rows back. */
  void releaseRows(int rows, long rowBytes) {
    used.addAndGet(-rows * rowBytes);
  }

  /**
   * Reserves room for the vectors of one training.
   *
   * @param rows most vectors wanted
   * @param dims their dimension
   * @return what was reserved, of which {@link Lease#rows} may be fewer than wanted
   */
  public Lease lease(int rows, int dims) {
    long rowBytes = Sample.rowBytes(dims);
    return new Lease(this, reserveRows(rows, rowBytes), rowBytes);
  }

  /** Rows reserved for a while; closing it a second time does nothing. */
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

    /** How many vectors there is room for. */
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
