package dev.vamana.cuda.training;

/** Counts device memory for training, and may refuse it. Thread-safe. */
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

  /** Reserves bytes. Returns false, and reserves nothing, if fewer are free. */
  boolean reserve(long bytes);

  /** Releases reserved bytes. */
  void release(long bytes);
}
