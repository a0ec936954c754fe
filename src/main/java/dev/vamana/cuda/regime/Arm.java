package dev.vamana.cuda.regime;

import java.util.Locale;

/** Who answers contested items: items that CPU and device answer alike and at similar cost. */
public enum Arm {
  /** The cost model decides with the load of the moment, since nothing has been measured. */
  MODEL,
  /** The CPU answers all. */
  CPU,
  /** The device answers all. */
  DEVICE,
  /** Each item goes where the cost model expects it to be cheaper on an idle node. */
  SPLIT;

  /** Returns the name in statistics. */
  public String statisticsName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
