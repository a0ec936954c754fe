package dev.vamana.cuda.hostfetch;

/**
 * Options of a {@link FetchLane}.
 *
 * @param threads threads that copy rows and vectors, including the driving thread, 1 to {@value
 *     #MAX_THREADS}
 * @param maxBatch most items walked together, 1 to {@value #MAX_BATCH}
 * @param stateBytes device memory for tables and worklists, at least {@value #MIN_BYTES}; batches
 *     that need more are walked in parts
 * @param vectorBytes device memory for vectors that are copied during the walk, 0 to copy them
 *     after it
 */
public record FetchOptions(int threads, int maxBatch, long stateBytes, long vectorBytes) {

  public static final int MAX_THREADS = 256;
  public static final int MAX_BATCH = 65_536;
  public static final long MIN_BYTES = 1L << 20;

  private static final int DEFAULT_THREADS = 16;
  private static final int DEFAULT_BATCH = 16_384;
  private static final long DEFAULT_BYTES = 1L << 30;

  public FetchOptions {
    check("threads", threads, 1, MAX_THREADS);
    check("maxBatch", maxBatch, 1, MAX_BATCH);
    check("stateBytes", stateBytes, MIN_BYTES, Long.MAX_VALUE);
    check("vectorBytes", vectorBytes, 0, Long.MAX_VALUE);
  }

  /**
   * Returns the defaults: up to 16 threads, 16,384 items, and for each of the two device buffers a
   * sixty-fourth of the device's memory, at most 1 GiB.
   *
   * @param processors number of processors available to the process
   * @param deviceBytes memory of the device
   */
  public static FetchOptions defaults(int processors, long deviceBytes) {
    long bytes = Math.max(MIN_BYTES, Math.min(deviceBytes / 64, DEFAULT_BYTES));
    return new FetchOptions(
        Math.max(1, Math.min(processors, DEFAULT_THREADS)), DEFAULT_BATCH, bytes, bytes);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + " must be between " + min + " and " + max + ", got " + value);
    }
  }
}
