package dev.vamana.cuda.api;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.PlanMode;
import java.util.Objects;
import java.util.Set;

/**
 * The options that an operator can change while a {@code GpuExecutor} works.
 *
 * @param deviceLimit limit of device memory for segments
 * @param pageCacheLimit limit of page cache pinned for the device
 * @param placements placements from which one is chosen for each segment uploaded from now on
 * @param maxBatch most items of a launch, 1 to {@value BatchOptions#MAX_BATCH}
 * @param lingerNanos how long an idle device waits for more items before it starts, 0 or more
 * @param segmentsAhead whether a query's first segment also sends the query's later segments
 * @param waitForUpload whether items wait for a segment that is being uploaded
 * @param plan the pinned plan, or {@link PlanMode#AUTO}
 */
public record DynamicOptions(
    MemoryLimit deviceLimit,
    MemoryLimit pageCacheLimit,
    Set<Placement> placements,
    int maxBatch,
    long lingerNanos,
    boolean segmentsAhead,
    boolean waitForUpload,
    PlanMode plan) {

  public DynamicOptions {
    placements = Set.copyOf(placements);
    Objects.requireNonNull(deviceLimit, "deviceLimit");
    Objects.requireNonNull(pageCacheLimit, "pageCacheLimit");
    Objects.requireNonNull(plan, "plan");
    BatchOptions.DEFAULT.withBatches(maxBatch, lingerNanos);
  }
}
