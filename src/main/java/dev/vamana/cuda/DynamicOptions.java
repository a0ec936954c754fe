package dev.vamana.cuda;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.PlanMode;
import java.util.Objects;

/**
 * What can be changed while an executor works.
 *
 * @param deviceLimit of device memory that segments fill
 * @param pageCacheLimit of pages that are pinned for the device
 * @param placement of segments that are uploaded from now on; null to choose for each
 * @param maxBatch most items of a launch, 1 to {@value BatchOptions#MAX_BATCH}
 * @param lingerNanos how long an idle device waits for more items before it starts, 0 or more
 * @param segmentsAhead whether segments that a query will ask for are sent along with the first
 * @param waitForUpload whether items wait for a segment on its way to the device
 * @param plan whether a plan is pinned
 */
public record DynamicOptions(
    MemoryLimit deviceLimit,
    MemoryLimit pageCacheLimit,
    Placement placement,
    int maxBatch,
    long lingerNanos,
    boolean segmentsAhead,
    boolean waitForUpload,
    PlanMode plan) {

  public DynamicOptions {
    Objects.requireNonNull(deviceLimit, "deviceLimit");
    Objects.requireNonNull(pageCacheLimit, "pageCacheLimit");
    Objects.requireNonNull(plan, "plan");
    BatchOptions.DEFAULT.withBatches(maxBatch, lingerNanos);
  }
}
