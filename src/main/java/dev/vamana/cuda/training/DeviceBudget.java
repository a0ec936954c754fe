package dev.vamana.cuda.training;

/** Counts device memory that trainings take, and may refuse it. Thread-safe. */
public interface DeviceBudget {

  /** Refuses nothing. */
  DeviceBudget UNLIMITED =
      new DeviceBudget() {
        @Override
        public boolean reserve(long bytes) {
          return true;
        }

        @Override
        public void release(long bytes) {}
      };

  /** Takes bytes, or none and returns false. */
  boolean reserve(long bytes);

  /** Gives back bytes that were taken. */
  void release(long bytes);
}
