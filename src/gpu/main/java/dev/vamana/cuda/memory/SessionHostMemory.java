package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.GpuException;

/**
 * The host memory that one context has reserved from an account. Memory of a lost context is not
 * released piece by piece, so {@link #close} releases the remainder; later releases do not count.
 */
public final class SessionHostMemory {

  private final HostMemoryAccount account;
  private long used;
  private boolean closed;

  /** Makes an instance that has reserved nothing. */
  public SessionHostMemory(HostMemoryAccount account) {
    this.account = account;
  }

  /**
   * Reserves bytes.
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

  /** Releases bytes. */
  public synchronized void release(long bytes) {
    if (closed == false) {
      used -= bytes;
      account.release(bytes);
    }
  }

  /** Returns the reserved bytes. */
  public synchronized long used() {
    return used;
  }

  /** Releases everything. Nothing can be reserved afterwards. */
  public synchronized void close() {
    if (closed == false) {
      closed = true;
      account.release(used);
      used = 0;
    }
  }
}
