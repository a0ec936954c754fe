package dev.vamana.work;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A limit of native memory that builds share. The JVM has no such limit: {@code
 * -XX:MaxDirectMemorySize} does not count memory that is freed by hand. Thread-safe.
 */
public final class MemoryBudget {

  // builds need memory beside the heap, and so do the mapped files
  private static final int SHARE_OF_HEAP = 2;

  private final AtomicLong used = new AtomicLong();
  private final LongAdder files = new LongAdder();
  private volatile long limit;

  /**
   * Makes a budget.
   *
   * @param limit most bytes in use at once, 0 or more; {@link Long#MAX_VALUE} for no limit
   */
  public MemoryBudget(long limit) {
    limit(limit);
  }

  /** Makes a budget of half the largest heap. */
  public static MemoryBudget halfOfHeap() {
    return new MemoryBudget(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
  }

  /**
   * Changes the limit. Memory in use stays in use.
   *
   * @param bytes 0 or more; {@link Long#MAX_VALUE} for no limit
   */
  public void limit(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException(
          "limit of native memory must be at least 0 bytes, got " + bytes);
    }
    limit = bytes;
  }

  /** Most bytes in use at once. */
  public long limit() {
    return limit;
  }

  /** Bytes in use. */
  public long used() {
    return used.get();
  }

  /** How often a temporary file took the place of memory. */
  public long files() {
    return files.sum();
  }

  /**
   * Takes bytes, for {@link #release} to give back.
   *
   * @param bytes 0 or more
   * @return false if that would exceed the limit; nothing is taken then
   */
  public boolean reserve(long bytes) {
    long before = used.get();
    while (bytes <= limit - before) {
      long found = used.compareAndExchange(before, before + bytes);
      if (found == before) {
        return true;
      }
      before = found;
    }
    return false;
  }

  /** Gives reserved bytes back. */
  public void release(long bytes) {
    used.addAndGet(-bytes);
  }

  /** Counts a temporary file that takes the place of memory. */
  public void countFile() {
    files.increment();
  }
}
