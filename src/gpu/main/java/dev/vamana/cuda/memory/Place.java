package dev.vamana.cuda.memory;

import java.util.Locale;

/** Where the graph of a segment is during a search on the device. */
public enum Place {
  /** On the device. */
  DEVICE,
  /** In the mapped segment file, which kernels read in place. */
  MAPPED_GRAPH,
  /** In host memory; the CPU fetches the neighbours of every step. */
  HOST_FETCH;

  /** Returns the name in settings, for instance {@code mapped-graph}. */
  public String settingName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
