package dev.vamana.cuda.ahead;

import dev.vamana.cuda.memory.HostMemoryAccount;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the memory of answers that wait until they are asked for, up to a limit. The account is
 * asked for blocks, since answers come and go by the hundred thousand a second. Thread-safe.
 */
final class AnswerMemory {

  private static final long BLOCK = 1 << 20;

  private final HostMemoryAccount account;
  private final long limit;
  private final AtomicLong used = new AtomicLong();
  private volatile long reserved;

  /**
   * Counts nothing yet.
   *
   * @param limit most bytes that answers may take
   */
  AnswerMemory(HostMemoryAccount account, long limit) {
    this.account = account;
    this.limit = limit;
  }

  /** Takes bytes, or none; returns whether they were taken. */
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
