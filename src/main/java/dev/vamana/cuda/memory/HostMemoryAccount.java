package dev.vamana.cuda.memory;

/**
 * Counts the host memory that is pinned for batches, and may refuse more of it; then the CPU
 * answers instead. Thread-safe; {@code toString} names it in messages.
 */
public interface HostMemoryAccount {

  /** Counts nothing and refuses nothing. */
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
   * Takes bytes, or none.
   *
   * @param bytes 0 or more
   * @return whether they were taken; then {@link #release} follows once they are not used any more
   */
  boolean reserve(long bytes);

  /** Gives back bytes that were taken. */
  void release(long bytes);
}
