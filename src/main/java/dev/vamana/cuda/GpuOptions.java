package dev.vamana.cuda;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.hostfetch.FetchOptions;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.work.Workers;
import java.util.Objects;

/**
 * How a {@link GpuExecutor} works.
 *
 * @param batches how batches are made
 * @param waitForUpload whether items wait for a segment on its way to the device, instead of being
 *     the CPU's
 * @param firstRetryNanos time from the loss of a context to the first attempt to open a new one; it
 *     doubles with every failed attempt
 * @param maxRetryNanos most time between attempts
 * @param hostFetch how neighbours are fetched by the CPU; null for what suits machine and device
 * @param workers threads that share what the CPU answers of a batch
 * @param hostMemory counts pinned memory that batches are in, and may refuse it
 */
public record GpuOptions(
    BatchOptions batches,
    boolean waitForUpload,
    long firstRetryNanos,
    long maxRetryNanos,
    FetchOptions hostFetch,
    Workers workers,
    HostMemoryAccount hostMemory) {

  /** Default batches, no waiting, attempts after 1 to 60 seconds, the calling thread. */
  public static final GpuOptions DEFAULT =
      new GpuOptions(
          BatchOptions.DEFAULT,
          false,
          1_000_000_000L,
          60_000_000_000L,
          null,
          Workers.callingThread(),
          HostMemoryAccount.UNLIMITED);

  public GpuOptions {
    Objects.requireNonNull(batches, "batches");
    Objects.requireNonNull(workers, "workers");
    Objects.requireNonNull(hostMemory, "hostMemory");
    if (firstRetryNanos < 1) {
      throw new IllegalArgumentException(
          "firstRetryNanos must be at least 1, got " + firstRetryNanos);
    }
    if (maxRetryNanos < firstRetryNanos) {
      throw new IllegalArgumentException(
          "maxRetryNanos must be at least firstRetryNanos, got " + maxRetryNanos);
    }
  }

  /** The same with other batches. */
  public GpuOptions withBatches(BatchOptions newBatches) {
    return new GpuOptions(
        newBatches, waitForUpload, firstRetryNanos, maxRetryNanos, hostFetch, workers, hostMemory);
  }

  /** The same, waiting for uploads or not. */
  public GpuOptions withWaitForUpload(boolean newWaitForUpload) {
    return new GpuOptions(
        batches, newWaitForUpload, firstRetryNanos, maxRetryNanos, hostFetch, workers, hostMemory);
  }

  /** The same with other times between attempts. */
  public GpuOptions withRetry(long newFirstRetryNanos, long newMaxRetryNanos) {
    return new GpuOptions(
        batches,
        waitForUpload,
        newFirstRetryNanos,
        newMaxRetryNanos,
        hostFetch,
        workers,
        hostMemory);
  }

  /** The same with other threads for what the CPU answers. */
  public GpuOptions withWorkers(Workers newWorkers) {
    return new GpuOptions(
        batches, waitForUpload, firstRetryNanos, maxRetryNanos, hostFetch, newWorkers, hostMemory);
  }

  /** The same with another way to fetch neighbours by the CPU. */
  public GpuOptions withHostFetch(FetchOptions newHostFetch) {
    return new GpuOptions(
        batches, waitForUpload, firstRetryNanos, maxRetryNanos, newHostFetch, workers, hostMemory);
  }

  /** The same with another account of pinned memory. */
  public GpuOptions withHostMemory(HostMemoryAccount newHostMemory) {
    return new GpuOptions(
        batches, waitForUpload, firstRetryNanos, maxRetryNanos, hostFetch, workers, newHostMemory);
  }
}
