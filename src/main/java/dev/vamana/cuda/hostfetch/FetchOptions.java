package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.kernel.FetchStep;
import java.util.Objects;

/**
 * Options of a {@link FetchLane}.
 *
 * @param threads threads that copy rows and vectors, including the driving thread, 1 to {@value
 *     #MAX_THREADS}
 * @param maxBatch most items walked together, 1 to {@value #MAX_BATCH}
 * @param halves parts of a batch that alternate between device and CPU, 1 or 2
 * @param stateBytes device memory for tables and worklists, at least {@value #MIN_BYTES}; batches
 *     that need more are walked in parts
 * @param vectorBytes device memory for vectors that are copied during the walk, 0 to copy them
 *     after it
 * @param step the kernels of a step
 * @param prefetch whether the CPU fetches rows while the device sorts and merges new keys (BANG,
 *     section 4.6)
 * @param visitedFilter whether a visited set keeps neighbours from getting a distance twice
 */
public record FetchOptions(
    int threads,
    int maxBatch,
    int halves,
    long stateBytes,
    long vectorBytes,
    FetchStep step,
    boolean prefetch,
    boolean visitedFilter) {

  public static final int MAX_THREADS = 256;
  public static final int MAX_BATCH = 65_536;
  public static final long MIN_BYTES = 1L << 20;

  private static final int DEFAULT_THREADS = 16;
  private static final int DEFAULT_BATCH = 16_384;
  private static final long DEFAULT_BYTES = 1L << 30;

  public FetchOptions {
    check("threads", threads, 1, MAX_THREADS);
    check("maxBatch", maxBatch, 1, MAX_BATCH);
    check("halves", halves, 1, 2);
    check("stateBytes", stateBytes, MIN_BYTES, Long.MAX_VALUE);
    check("vectorBytes", vectorBytes, 0, Long.MAX_VALUE);
    Objects.requireNonNull(step, "step");
  }

  /**
   * Returns the defaults: up to 16 threads, 16,384 items in two halves, fused kernels with
   * prefetch, and for each of the two device buffers a sixty-fourth of the device's memory, at most
   * 1 GiB.
   *
   * @param processors number of processors available to the process
   * @param deviceBytes memory of the device
   */
  public static FetchOptions defaults(int processors, long deviceBytes) {
    long bytes = Math.max(MIN_BYTES, Math.min(deviceBytes / 64, DEFAULT_BYTES));
    return new FetchOptions(
        Math.max(1, Math.min(processors, DEFAULT_THREADS)),
        DEFAULT_BATCH,
        2,
        bytes,
        bytes,
        FetchStep.FUSED,
        true,
        true);
  }

  /** Returns these options with other kernels. */
  public FetchOptions withStep(FetchStep newStep, boolean newPrefetch, boolean newVisitedFilter) {
    return new FetchOptions(
        threads, maxBatch, halves, stateBytes, vectorBytes, newStep, newPrefetch, newVisitedFilter);
  }

  /** Returns these options with other threads and batches. */
  public FetchOptions withBatches(int newThreads, int newMaxBatch, int newHalves) {
    return new FetchOptions(
        newThreads, newMaxBatch, newHalves, stateBytes, vectorBytes, step, prefetch, visitedFilter);
  }

  /** Returns these options with other limits of device memory. */
  public FetchOptions withBytes(long newStateBytes, long newVectorBytes) {
    return new FetchOptions(
        threads, maxBatch, halves, newStateBytes, newVectorBytes, step, prefetch, visitedFilter);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + " must be between " + min + " and " + max + ", got " + value);
    }
  }
}
