package dev.vamana.cuda.plan;

import java.util.Locale;

/** A way to answer queries over one segment; docs/internals/query-plans.md compares them. */
public enum Plan {
  /** The device compares the queries with every vector. Exact. */
  SCAN,
  /** The device compares the queries with the accepted vectors only, by ordinal. Exact. */
  GATHER,
  /** The device walks the graph. */
  GRAPH,
  /** The device searches inverted lists. */
  LISTS,
  /** The CPU scans, walks or searches lists. */
  CPU;

  /**
   * Whether the device compares the queries with all accepted vectors, so that no hit is missed.
   */
  public boolean exactOnDevice() {
    return this == SCAN || this == GATHER;
  }

  /** Returns the name in statistics. */
  public String statisticsName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
