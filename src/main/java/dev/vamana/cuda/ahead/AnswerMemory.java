package dev.vamana.cuda.ahead;

import dev.vamana.cuda.memory.HostMemoryAccount;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the memory of answers that wait for their calls, up to a limit. It reserves blocks of the
 * account, since answers come and go at rates of 100,000 a second. Thread-safe.
 */
final class AnswerMemory {

  private static final long BLOCK = 1 << 20;

  private final HostMemoryAccount account;
  private final long limit;
  private final AtomicLong used = new AtomicLong();
  private volatile long reserved;

  /**
   * Makes an empty count.
   *
   * @param account account that grants the blocks
   * @param limit most bytes of all answers
   */
  AnswerMemory(HostMemoryAccount account, long limit) {
    this.account = account;
    this.limit = limit;
  }

  /** Reserves all of the bytes or none; returns whether it did. */
  boolean reserve(long bytes) {
    long now = used.addAndGet(bytes);
    if (now <= limit && (now <= reserved || grow())) {
      return true;
    }
    release(bytes);
    return false;
  }

  /** Gives bytes back. */
  void release(long bytes) {
    long now = used.addAndGet(-bytes);
    if (now == 0 || reserved - now > 2 * BLOCK) {
      shrink();
    }
  }

  private synchronized boolean grow() {
    long missing = used.get() - reserved;
    if (missing <= 0) {
      return true;
    }
    long blocks = (missing + BLOCK - 1) / BLOCK * BLOCK;
    if (account.reserve(blocks) == false) {
      return false;
    }
    reserved += blocks;
    return true;
  }

  private synchronized void shrink() {
    long needed = (used.get() + BLOCK - 1) / BLOCK * BLOCK;
    if (reserved > needed) {
      account.release(reserved - needed);
      reserved = needed;
    }
  }
}
