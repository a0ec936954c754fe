package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.GpuException;

/**
 * What one context takes from an account. Memory of a lost context is not given back piece by
 * piece, so what is left is given back when the context is closed; what is released later is not
 * counted again.
 */
public final class SessionHostMemory {

  private final HostMemoryAccount account;
  private long used;
  private boolean closed;

  /** Begins with nothing taken. */
  public SessionHostMemory(HostMemoryAccount account) {
    this.account = account;
  }

  /**
   * Takes bytes.
   *
   * @throws GpuException with {@link GpuException.Kind#OUT_OF_MEMORY} if the account refuses them
   */
  public synchronized void reserve(long bytes) {
    if (closed || account.reserve(bytes) == false) {
      throw new GpuException(
          GpuException.Kind.OUT_OF_MEMORY,
          bytes + " bytes of pinned memory were refused by " + account);
    }
    used += bytes;
  }

  /** Gives bytes back. */
  public synchronized void release(long bytes) {
    if (closed == false) {
      used -= bytes;
      account.release(bytes);
    }
  }

  /** Bytes that are taken now. */
  public synchronized long used() {
    return used;
  }

  /** Gives everything back; nothing can be taken any more. */
  public synchronized void close() {
    if (closed == false) {
      closed = true;
      account.release(used);
      used = 0;
    }
  }
}
