package dev.vamana.cuda.api;

import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import java.util.Objects;

/**
 * Options of how plans are chosen.
 *
 * @param mode the pinned plan, or {@link PlanMode#AUTO}
 * @param costs predicts the time of each plan; it is scaled to the device that is opened
 */
public record PlanOptions(PlanMode mode, CostModel costs) {

  public PlanOptions {
    Objects.requireNonNull(mode, "mode");
    Objects.requireNonNull(costs, "costs");
  }

  /** Returns these options with another mode. */
  public PlanOptions withMode(PlanMode newMode) {
    return new PlanOptions(newMode, costs);
  }
}
