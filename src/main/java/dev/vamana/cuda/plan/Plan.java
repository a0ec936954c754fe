package dev.vamana.cuda.plan;

import java.util.Locale;

/** A way to answer queries over one segment; docs/internals/query-plans.md compares them. */
public enum Plan {
  /** The device compares the queries with every vector. Exact. */
  SCAN,
  /** The device compares the queries with the accepted vectors alone, by ordinal. Exact. */
  GATHER,
  /** The device walks the graph. */
  GRAPH,
  /** The CPU scans or walks. */
  CPU;

  /** Whether the device compares all that is accepted, so that no hit is missed. */
  public boolean exactOnDevice() {
    return this == SCAN || this == GATHER;
  }

  /** As statistics spell it. */
  public String statisticsName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
