package dev.vamana.cuda.memory;

/**
 * Counts host memory that is pinned for batches, and may refuse more of it; the CPU answers then.
 * The Elasticsearch plugin implements it with a circuit breaker. Thread-safe; {@code toString}
 * names the account in messages.
 */
public interface HostMemoryAccount {

  /** An account without a limit. */
  HostMemoryAccount UNLIMITED =
      new HostMemoryAccount() {
        @Override
        public boolean reserve(long bytes) {
          return true;
        }

        @Override
        public void release(long bytes) {}

        @Override
        public String toString() {
          return "an account without a limit";
        }
      };

  /**
   * Reserves all of the bytes or none.
   *
   * @param bytes 0 or more
   * @return whether they were reserved; if so, {@link #release} has to follow
   */
  boolean reserve(long bytes);

  /** Releases reserved bytes. */
  void release(long bytes);
}
