package dev.vamana.cuda.hostfetch;

/**
 * Sizes of a {@link FetchLane}.
 *
 * @param threads threads that copy rows and vectors, including the driving thread, at least 1
 * @param maxBatch most items walked together, at least 1
 * @param stateBytes device memory for tables and worklists, at least {@value #MIN_BYTES}; batches
 *     that need more are walked in parts
 */
public record FetchOptions(int threads, int maxBatch, long stateBytes) {

  public static final long MIN_BYTES = 1L << 20;
  private static final int MOST_THREADS = 16;
  private static final int MAX_BATCH = 16_384;
  private static final long MOST_BYTES = 1L << 30;

  /**
   * Returns the sizes for a device: up to 16 threads, 16,384 items, and a sixty-fourth of the
   * device's memory, at most 1 GiB.
   *
   * @param processors number of processors available to the process
   * @param deviceBytes memory of the device
   */
  public static FetchOptions of(int processors, long deviceBytes) {
    long bytes = Math.max(MIN_BYTES, Math.min(deviceBytes / 64, MOST_BYTES));
    return new FetchOptions(Math.min(processors, MOST_THREADS), MAX_BATCH, bytes);
  }
}
