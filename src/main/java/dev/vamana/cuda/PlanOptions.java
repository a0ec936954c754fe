package dev.vamana.cuda;

import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import java.util.Objects;

/**
 * How plans are chosen.
 *
 * @param mode whether one is pinned
 * @param costs what plans are predicted to take; adapted to the device that is opened
 */
public record PlanOptions(PlanMode mode, CostModel costs) {

  public PlanOptions {
    Objects.requireNonNull(mode, "mode");
    Objects.requireNonNull(costs, "costs");
  }

  /** The same with another mode. */
  public PlanOptions withMode(PlanMode newMode) {
    return new PlanOptions(newMode, costs);
  }
}
