package dev.vamana.cuda.api;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.hostfetch.FetchOptions;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.work.Workers;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * All options of a {@code GpuExecutor}, one immutable snapshot. {@code session.SessionKeeper} has
 * the current one, and exchanges it when the operator changes something ({@link DynamicOptions});
 * lanes and planners read from it.
 *
 * @param batches batching of concurrent calls
 * @param residency memory limits and placements of segments
 * @param waitForUpload whether items wait for a segment that is being uploaded; otherwise the CPU
 *     answers them
 * @param firstRetryNanos time from the loss of a context to the first attempt to open a new one; it
 *     doubles with every failed attempt
 * @param maxRetryNanos longest time between attempts
 * @param hostFetch options of {@link dev.vamana.cuda.memory.Placement#HOST_FETCH}; null for
 *     defaults that suit the machine and the device
 * @param workers threads among which the CPU's items of a batch are divided
 * @param hostMemory account of pinned memory in use by batches; it may refuse memory
 * @param plans how plans are chosen
 * @param deadlineNanos longest time that work on the device may take; when a kernel takes longer,
 *     the context counts as lost
 * @param leastTraining least number of components (vectors times dimension) that the device trains
 *     on or encodes; the CPU does what is smaller
 * @param selfTestNanos time between two self-tests of a context, which is also tested before it is
 *     used; 0 for none
 * @param leastGraph least number of vectors of a graph that the device builds, or {@link
 *     #NO_GRAPHS}
 */
public record GpuOptions(
    BatchOptions batches,
    ResidencyOptions residency,
    boolean waitForUpload,
    long firstRetryNanos,
    long maxRetryNanos,
    FetchOptions hostFetch,
    Workers workers,
    HostMemoryAccount hostMemory,
    PlanOptions plans,
    long deadlineNanos,
    long leastTraining,
    long selfTestNanos,
    int leastGraph) {

  /** Value of {@code leastGraph} for a device that builds no graphs. */
  public static final int NO_GRAPHS = Integer.MAX_VALUE;

  /** Number of vectors from which the device should be faster, if it builds graphs at all. */
  public static final int LEAST_GRAPH = 4_096;

  /**
   * Default batches, no pinned page cache unless the host's memory is given, no waiting for
   * uploads, retries after 1 to 60 seconds, the calling thread only, plans by the costs that ship
   * with the plugin, a deadline of 60 seconds. Training from half a million components, which take
   * one CPU core about 15 ms to encode and are worth a trip over the bus. A self-test every ten
   * minutes. No graphs.
   */
  public static final GpuOptions DEFAULT =
      new GpuOptions(
          BatchOptions.DEFAULT,
          ResidencyOptions.defaults(0),
          false,
          1_000_000_000L,
          60_000_000_000L,
          null,
          Workers.callingThread(),
          HostMemoryAccount.UNLIMITED,
          new PlanOptions(PlanMode.AUTO, CostModel.shipped()),
          60_000_000_000L,
          1 << 19,
          600_000_000_000L,
          NO_GRAPHS);

  public GpuOptions {
    Objects.requireNonNull(batches, "batches");
    Objects.requireNonNull(residency, "residency");
    Objects.requireNonNull(workers, "workers");
    Objects.requireNonNull(hostMemory, "hostMemory");
    Objects.requireNonNull(plans, "plans");
    check("firstRetryNanos", firstRetryNanos, 1, "1");
    check("maxRetryNanos", maxRetryNanos, firstRetryNanos, "firstRetryNanos");
    check("deadlineNanos", deadlineNanos, 1, "1");
    check("selfTestNanos", selfTestNanos, 0, "0");
  }

  private static void check(String name, long value, long least, String bound) {
    if (value < least) {
      throw new IllegalArgumentException(name + " must be at least " + bound + ", got " + value);
    }
  }

  /** Returns these options with other batches. */
  public GpuOptions withBatches(BatchOptions newBatches) {
    return with(draft -> draft.batches = newBatches);
  }

  /** Returns these options with other memory limits and placements. */
  public GpuOptions withResidency(ResidencyOptions newResidency) {
    return with(draft -> draft.residency = newResidency);
  }

  /** Returns these options with waiting for uploads on or off. */
  public GpuOptions withWaitForUpload(boolean newWaitForUpload) {
    return with(draft -> draft.waitForUpload = newWaitForUpload);
  }

  /** Returns these options with other retry times. */
  public GpuOptions withRetry(long newFirstRetryNanos, long newMaxRetryNanos) {
    return with(
        draft -> {
          draft.firstRetryNanos = newFirstRetryNanos;
          draft.maxRetryNanos = newMaxRetryNanos;
        });
  }

  /** Returns these options with other threads for the CPU's items. */
  public GpuOptions withWorkers(Workers newWorkers) {
    return with(draft -> draft.workers = newWorkers);
  }

  /** Returns these options with other host-fetch options. */
  public GpuOptions withHostFetch(FetchOptions newHostFetch) {
    return with(draft -> draft.hostFetch = newHostFetch);
  }

  /** Returns these options with another account of pinned memory. */
  public GpuOptions withHostMemory(HostMemoryAccount newHostMemory) {
    return with(draft -> draft.hostMemory = newHostMemory);
  }

  /** Returns these options with other plan options. */
  public GpuOptions withPlans(PlanOptions newPlans) {
    return with(draft -> draft.plans = newPlans);
  }

  /** Returns these options with another plan mode. */
  public GpuOptions withPlan(PlanMode mode) {
    return withPlans(plans.withMode(mode));
  }

  /** Returns these options with another deadline of work on the device. */
  public GpuOptions withDeadline(long newDeadlineNanos) {
    return with(draft -> draft.deadlineNanos = newDeadlineNanos);
  }

  /** Returns these options with another least number of components for training and encoding. */
  public GpuOptions withLeastTraining(long components) {
    return with(draft -> draft.leastTraining = components);
  }

  /**
   * Returns these options with another time between self-tests.
   *
   * @param nanos 0 for none
   */
  public GpuOptions withSelfTest(long nanos) {
    return with(draft -> draft.selfTestNanos = nanos);
  }

  /**
   * Returns these options with another least number of vectors of a graph that the device builds.
   *
   * @param vectors for instance {@link #LEAST_GRAPH}; {@link #NO_GRAPHS} for none
   */
  public GpuOptions withLeastGraph(int vectors) {
    return with(draft -> draft.leastGraph = vectors);
  }

  /** Returns these options with the operator's changes. */
  public GpuOptions with(DynamicOptions changed) {
    return with(
        draft -> {
          draft.batches =
              batches
                  .withBatches(changed.maxBatch(), changed.lingerNanos())
                  .withSegmentsAhead(changed.segmentsAhead());
          draft.residency =
              residency
                  .withLimits(changed.deviceLimit(), changed.pageCacheLimit())
                  .withPlacements(changed.placements());
          draft.waitForUpload = changed.waitForUpload();
          draft.plans = plans.withMode(changed.plan());
        });
  }

  private GpuOptions with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.options();
  }

  /** Options while one of them changes. */
  private static final class Draft {
    BatchOptions batches;
    ResidencyOptions residency;
    boolean waitForUpload;
    long firstRetryNanos;
    long maxRetryNanos;
    FetchOptions hostFetch;
    Workers workers;
    HostMemoryAccount hostMemory;
    PlanOptions plans;
    long deadlineNanos;
    long leastTraining;
    long selfTestNanos;
    int leastGraph;

    Draft(GpuOptions options) {
      batches = options.batches;
      residency = options.residency;
      waitForUpload = options.waitForUpload;
      firstRetryNanos = options.firstRetryNanos;
      maxRetryNanos = options.maxRetryNanos;
      hostFetch = options.hostFetch;
      workers = options.workers;
      hostMemory = options.hostMemory;
      plans = options.plans;
      deadlineNanos = options.deadlineNanos;
      leastTraining = options.leastTraining;
      selfTestNanos = options.selfTestNanos;
      leastGraph = options.leastGraph;
    }

    GpuOptions options() {
      return new GpuOptions(
          batches,
          residency,
          waitForUpload,
          firstRetryNanos,
          maxRetryNanos,
          hostFetch,
          workers,
          hostMemory,
          plans,
          deadlineNanos,
          leastTraining,
          selfTestNanos,
          leastGraph);
    }
  }
}
