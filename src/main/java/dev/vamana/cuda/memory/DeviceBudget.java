package dev.vamana.cuda.memory;

/** Counts device memory for work other than segments, and may refuse it. Thread-safe. */
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

  /** Releases reserved bytes, after their memory has been freed. */
  void release(long bytes);
}
