package dev.vamana.cuda.plan;

import java.util.Locale;

/** Whether the cost model chooses among plans, or which one is taken wherever it can be. */
public enum PlanMode {
  /** The plan that is predicted to be fastest, among those that miss no more hits than a walk. */
  AUTO,
  /** Exact on the device where it can get the vectors, otherwise as {@link #GRAPH}. */
  EXACT,
  /** A walk on the device, or the CPU where a scan is better than a walk. */
  GRAPH,
  /** The CPU. */
  CPU;

  /** As settings spell it. */
  public String settingName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
