package dev.vamana.cuda;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.hostfetch.FetchOptions;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
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
 * @param plans how plans are chosen
 */
public record GpuOptions(
    BatchOptions batches,
    boolean waitForUpload,
    long firstRetryNanos,
    long maxRetryNanos,
    FetchOptions hostFetch,
    Workers workers,
    HostMemoryAccount hostMemory,
    PlanOptions plans) {

  /**
   * Default batches, no waiting, attempts after 1 to 60 seconds, the calling thread, plans by the
   * costs that come with the plugin.
   */
  public static final GpuOptions DEFAULT =
      new GpuOptions(
          BatchOptions.DEFAULT,
          false,
          1_000_000_000L,
          60_000_000_000L,
          null,
          Workers.callingThread(),
          HostMemoryAccount.UNLIMITED,
          new PlanOptions(PlanMode.AUTO, CostModel.shipped()));

  public GpuOptions {
    Objects.requireNonNull(batches, "batches");
    Objects.requireNonNull(workers, "workers");
    Objects.requireNonNull(hostMemory, "hostMemory");
    Objects.requireNonNull(plans, "plans");
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
        newBatches,
        waitForUpload,
        firstRetryNanos,
        maxRetryNanos,
        hostFetch,
        workers,
        hostMemory,
        plans);
  }

  /** The same, waiting for uploads or not. */
  public GpuOptions withWaitForUpload(boolean newWaitForUpload) {
    return new GpuOptions(
        batches,
        newWaitForUpload,
        firstRetryNanos,
        maxRetryNanos,
        hostFetch,
        workers,
        hostMemory,
        plans);
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
        hostMemory,
        plans);
  }

  /** The same with other threads for what the CPU answers. */
  public GpuOptions withWorkers(Workers newWorkers) {
    return new GpuOptions(
        batches,
        waitForUpload,
        firstRetryNanos,
        maxRetryNanos,
        hostFetch,
        newWorkers,
        hostMemory,
        plans);
  }

  /** The same with another way to fetch neighbours by the CPU. */
  public GpuOptions withHostFetch(FetchOptions newHostFetch) {
    return new GpuOptions(
        batches,
        waitForUpload,
        firstRetryNanos,
        maxRetryNanos,
        newHostFetch,
        workers,
        hostMemory,
        plans);
  }

  /** The same with another account of pinned memory. */
  public GpuOptions withHostMemory(HostMemoryAccount newHostMemory) {
    return new GpuOptions(
        batches,
        waitForUpload,
        firstRetryNanos,
        maxRetryNanos,
        hostFetch,
        workers,
        newHostMemory,
        plans);
  }

  /** The same with plans chosen in another way. */
  public GpuOptions withPlans(PlanOptions newPlans) {
    return new GpuOptions(
        batches,
        waitForUpload,
        firstRetryNanos,
        maxRetryNanos,
        hostFetch,
        workers,
        hostMemory,
        newPlans);
  }

  /** The same with a plan pinned, or not. */
  public GpuOptions withPlan(PlanMode mode) {
    return withPlans(plans.withMode(mode));
  }
}
