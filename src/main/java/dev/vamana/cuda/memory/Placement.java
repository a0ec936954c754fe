package dev.vamana.cuda.memory;

import java.util.Locale;

/**
 * Where graph, codes and vectors of a segment lie while it is searched; docs/internals/gpu.md
 * compares.
 */
public enum Placement {
  /** Vectors and graph on the device, exact distances in the walk (BANG, section 5.2). */
  EXACT,
  /** As {@link #EXACT}, but the walk reads half-precision copies and hits are re-ranked. */
  EXACT_FLOAT16,
  /**
   * As {@link #EXACT}, but the walk reads copies of one byte a component and hits are re-ranked.
   */
  EXACT_INT8,
  /** Codes and graph on the device, hits re-ranked from the raw vectors (BANG, section 5.1). */
  IN_MEMORY,
  /** Codes on the device; graph and raw vectors are read in place from the mapped files. */
  MAPPED_GRAPH,
  /** Codes on the device; the CPU fetches neighbours for every step (BANG base, section 3.2). */
  HOST_FETCH;

  /** Whether the graph is copied to the device. */
  public boolean copiesGraph() {
    return this == IN_MEMORY || copiesCodes() == false;
  }

  /** Whether codes are copied to the device, rather than vectors that walks read. */
  public boolean copiesCodes() {
    return this == IN_MEMORY || this == MAPPED_GRAPH || this == HOST_FETCH;
  }

  /** As settings spell it, for instance {@code mapped-graph}. */
  public String settingName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
