package dev.vamana.cuda.api;

import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import java.util.Objects;

/**
 * Options of how plans are chosen.
 *
 * @param mode the pinned plan, or {@link PlanMode#AUTO}
 * @param costs predicts the time of each plan; it is scaled to the device that is opened
 * @param measured whether measurements rather than predictions under load decide between the CPU
 *     and the device where both answer alike at similar cost
 */
public record PlanOptions(PlanMode mode, CostModel costs, boolean measured) {

  /** Makes options with which measurements decide where costs are similar. */
  public PlanOptions(PlanMode mode, CostModel costs) {
    this(mode, costs, true);
  }

  public PlanOptions {
    Objects.requireNonNull(mode, "mode");
    Objects.requireNonNull(costs, "costs");
  }

  /** Returns these options without decisions by measurements. */
  public PlanOptions unmeasured() {
    return new PlanOptions(mode, costs, false);
  }

  /** Returns these options with another mode. */
  public PlanOptions withMode(PlanMode newMode) {
    return new PlanOptions(newMode, costs, measured);
  }
}
