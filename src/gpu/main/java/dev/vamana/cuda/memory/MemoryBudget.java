package dev.vamana.cuda.memory;

import java.util.concurrent.atomic.AtomicLong;

/** Counts bytes against a limit. Thread-safe. */
final class MemoryBudget {

  private final String name;
  private volatile long limit;
  private final AtomicLong used = new AtomicLong();

  /**
   * Makes an empty budget.
   *
   * @param name name in messages
   * @param limit bytes, at least 0
   */
  MemoryBudget(String name, long limit) {
    this.name = name;
    this.limit = limit;
  }

  long limit() {
    return limit;
  }

  /** Sets another limit. It may be below the bytes in use; {@link #excess} is then positive. */
  void limit(long bytes) {
    limit = bytes;
  }

  /** Returns the bytes in use above the limit, or 0. */
  long excess() {
    return Math.max(0, used.get() - limit);
  }

  long used() {
    return used.get();
  }

  long free() {
    return limit - used.get();
  }

  /** Reserves bytes. Returns false, and reserves nothing, if fewer are free. */
  boolean tryReserve(long bytes) {
    checkBytes(bytes);
    for (; ; ) {
      long before = used.get();
      if (bytes > limit - before) {
        return false;
      }
      if (used.compareAndSet(before, before + bytes)) {
        return true;
      }
    }
  }

  /**
   * Releases bytes.
   *
   * @throws IllegalStateException if fewer are in use
   */
  void release(long bytes) {
    checkBytes(bytes);
    for (; ; ) {
      long before = used.get();
      if (bytes > before) {
        throw new IllegalStateException(
            bytes + " bytes given back to " + name + ", of which " + before + " are in use");
      }
      if (used.compareAndSet(before, before - bytes)) {
        return;
      }
    }
  }

  private void checkBytes(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException(name + " counts from 0 bytes, got " + bytes);
    }
  }

  @Override
  public String toString() {
    return name + ": " + used() + " of " + limit + " bytes";
  }
}
