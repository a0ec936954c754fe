package dev.vamana.cuda.api;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.work.Workers;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * All options of a {@code GpuExecutor}, one immutable snapshot. {@code session.SessionKeeper} has
 * the current one, and exchanges it when the operator changes something ({@link DynamicOptions});
 * lanes and planners read from it.
 *
 * @param batches batching of concurrent calls
 * @param residency memory limits and placements of segments
 * @param waitForUpload whether items wait for a segment that is being uploaded; otherwise the CPU
 *     answers them
 * @param workers threads among which the CPU's items of a batch are divided
 * @param hostMemory account of pinned memory in use by batches; it may refuse memory
 * @param plans how plans are chosen
 * @param leastTraining least number of components (vectors times dimension) that the device trains
 *     on or encodes; the CPU does what is smaller
 * @param leastGraph least number of vectors of a graph that the device builds, or {@link
 *     #NO_GRAPHS}
 * @param times when contexts are tested, given up and opened again
 */
public record GpuOptions(
    BatchOptions batches,
    ResidencyOptions residency,
    boolean waitForUpload,
    Workers workers,
    HostMemoryAccount hostMemory,
    PlanOptions plans,
    long leastTraining,
    int leastGraph,
    Times times) {

  /** Value of {@code leastGraph} for a device that builds no graphs. */
  public static final int NO_GRAPHS = Integer.MAX_VALUE;

  /** Number of vectors from which the device should be faster, if it builds graphs at all. */
  public static final int LEAST_GRAPH = 4_096;

  /**
   * Components from which the device trains and encodes: one CPU core encodes them in about 15 ms,
   * which is worth a trip over the bus.
   */
  public static final long LEAST_TRAINING = 1 << 19;

  /**
   * Default batches, no pinned page cache unless the host's memory is given, no waiting for
   * uploads, the calling thread only, plans by the costs that ship with the plugin, no graphs.
   */
  public static final GpuOptions DEFAULT =
      new GpuOptions(
          BatchOptions.DEFAULT,
          ResidencyOptions.defaults(0),
          false,
          Workers.callingThread(),
          HostMemoryAccount.UNLIMITED,
          new PlanOptions(PlanMode.AUTO, CostModel.shipped()),
          LEAST_TRAINING,
          NO_GRAPHS,
          new Times(1_000_000_000L, 60_000_000_000L, 60_000_000_000L, 600_000_000_000L));

  /**
   * When contexts are tested, given up and opened again, in nanoseconds. A node has the defaults.
   *
   * @param firstRetry from the loss of a context to the first attempt to open a new one, by default
   *     a second; it doubles with every failed attempt
   * @param maxRetry most time between attempts, by default a minute
   * @param deadline longest time that work on the device may take, by default a minute; when a
   *     kernel takes longer, the context counts as lost
   * @param selfTest time between two self-tests of a context, which is also tested before it is
   *     used, by default ten minutes; 0 for none
   */
  public record Times(long firstRetry, long maxRetry, long deadline, long selfTest) {

    public Times {
      if (firstRetry < 1 || maxRetry < firstRetry || deadline < 1 || selfTest < 0) {
        throw new IllegalArgumentException(
            "retries must be 1 or more and in order, the deadline 1 or more, the time between"
                + (" self-tests 0 or more, got " + firstRetry + ", " + maxRetry)
                + (", " + deadline + ", " + selfTest));
      }
    }

    /** Returns these times with other retries. */
    public Times retry(long first, long most) {
      return new Times(first, most, deadline, selfTest);
    }

    /** Returns these times with another deadline. */
    public Times deadline(long nanos) {
      return new Times(firstRetry, maxRetry, nanos, selfTest);
    }

    /** Returns these times with another time between self-tests. */
    public Times selfTest(long nanos) {
      return new Times(firstRetry, maxRetry, deadline, nanos);
    }
  }

  public GpuOptions {
    Objects.requireNonNull(batches, "batches");
    Objects.requireNonNull(residency, "residency");
    Objects.requireNonNull(workers, "workers");
    Objects.requireNonNull(hostMemory, "hostMemory");
    Objects.requireNonNull(plans, "plans");
    Objects.requireNonNull(times, "times");
  }

  /** Returns these options with other batches. */
  public GpuOptions withBatches(BatchOptions changed) {
    return with(draft -> draft.batches = changed);
  }

  /** Returns these options with other memory limits and placements. */
  public GpuOptions withResidency(ResidencyOptions changed) {
    return with(draft -> draft.residency = changed);
  }

  /** Returns these options with waiting for uploads on or off. */
  public GpuOptions withWaitForUpload(boolean changed) {
    return with(draft -> draft.waitForUpload = changed);
  }

  /** Returns these options with other threads for the CPU's items. */
  public GpuOptions withWorkers(Workers changed) {
    return with(draft -> draft.workers = changed);
  }

  /** Returns these options with another account of pinned memory. */
  public GpuOptions withHostMemory(HostMemoryAccount changed) {
    return with(draft -> draft.hostMemory = changed);
  }

  /** Returns these options with other plan options. */
  public GpuOptions withPlans(PlanOptions changed) {
    return with(draft -> draft.plans = changed);
  }

  /** Returns these options with another plan mode. */
  public GpuOptions withPlan(PlanMode mode) {
    return withPlans(plans.withMode(mode));
  }

  /**
   * Returns these options with other least work of the device.
   *
   * @param training components, {@link #LEAST_TRAINING} by default
   * @param graph vectors, for instance {@link #LEAST_GRAPH}; {@link #NO_GRAPHS} for none
   */
  public GpuOptions withLeast(long training, int graph) {
    return with(
        draft -> {
          draft.leastTraining = training;
          draft.leastGraph = graph;
        });
  }

  /** Returns these options with other times. */
  public GpuOptions withTimes(UnaryOperator<Times> change) {
    return with(draft -> draft.times = change.apply(times));
  }

  /** Returns these options with the operator's changes. */
  public GpuOptions with(DynamicOptions changed) {
    return withBatches(
            batches
                .withBatches(changed.maxBatch(), changed.lingerNanos())
                .withSegmentsAhead(changed.segmentsAhead()))
        .withResidency(
            residency
                .withLimits(changed.deviceLimit(), changed.pageCacheLimit())
                .withPlacements(changed.placements()))
        .withWaitForUpload(changed.waitForUpload())
        .withPlan(changed.plan());
  }

  private GpuOptions with(Consumer<Draft> change) {
    Draft draft = new Draft();
    change.accept(draft);
    return new GpuOptions(
        draft.batches,
        draft.residency,
        draft.waitForUpload,
        draft.workers,
        draft.hostMemory,
        draft.plans,
        draft.leastTraining,
        draft.leastGraph,
        draft.times);
  }

  /** Options while some of them change. */
  private final class Draft {
    private BatchOptions batches = GpuOptions.this.batches;
    private ResidencyOptions residency = GpuOptions.this.residency;
    private boolean waitForUpload = GpuOptions.this.waitForUpload;
    private Workers workers = GpuOptions.this.workers;
    private HostMemoryAccount hostMemory = GpuOptions.this.hostMemory;
    private PlanOptions plans = GpuOptions.this.plans;
    private long leastTraining = GpuOptions.this.leastTraining;
    private int leastGraph = GpuOptions.this.leastGraph;
    private Times times = GpuOptions.this.times;
  }
}
