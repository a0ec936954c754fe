package dev.vamana.cuda.plan;

import java.util.Locale;

/** How plans are chosen: by the cost model, or pinned to one kind of plan where it is possible. */
public enum PlanMode {
  /** The plan with the shortest predicted time, among plans that miss no more hits than a walk. */
  AUTO,
  /** An exact search on the device if it can get the vectors, otherwise as {@link #GRAPH}. */
  EXACT,
  /** A walk on the device; the CPU where a scan is better than a walk. */
  GRAPH,
  /** The CPU only. */
  CPU;

  /** Returns the name in settings. */
  public String settingName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
