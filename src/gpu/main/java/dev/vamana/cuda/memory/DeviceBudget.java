package dev.vamana.cuda.memory;

/**
 * Counts device memory other than segments: scratch of searches, graphs that are built, training.
 * It may refuse memory. Thread-safe.
 */
public interface DeviceBudget {

  /** A budget without a limit. */
  DeviceBudget UNLIMITED =
      new DeviceBudget() {
        @Override
        public boolean reserve(long bytes) {
          return true;
        }

        @Override
        public void release(long bytes) {}
      };

  /**
   * Reserves bytes. Returns false, and reserves nothing, if fewer are free. The calling thread is
   * bound to the driver.
   */
  boolean reserve(long bytes);

  /**
   * Reserves bytes that searches cannot do without, as {@link #reserve} does. Segments that are
   * neither in use nor kept make room.
   */
  default boolean claim(long bytes) {
    return reserve(bytes);
  }

  /** Releases reserved bytes, after their memory has been freed. */
  void release(long bytes);
}
