package dev.vamana.cuda.memory;

import java.util.Locale;

/**
 * Where a segment's graph, codes and vectors are during a search. docs/internals/gpu.md compares
 * the placements.
 */
public enum Placement {
  /** Vectors and graph on the device; walks compute exact distances (BANG, section 5.2). */
  EXACT,
  /**
   * As {@link #EXACT}, but walks read half-precision copies of the vectors, and hits are re-ranked.
   */
  EXACT_FLOAT16,
  /** As {@link #EXACT}, but walks read copies of one byte a component, and hits are re-ranked. */
  EXACT_INT8,
  /** Codes and graph on the device; hits are re-ranked from the raw vectors (BANG, section 5.1). */
  IN_MEMORY,
  /** Codes on the device; kernels read graph and raw vectors in place from the mapped files. */
  MAPPED_GRAPH,
  /** Codes on the device; the CPU fetches the neighbours of every step (BANG base, section 3.2). */
  HOST_FETCH;

  /** Whether the graph is on the device. */
  public boolean copiesGraph() {
    return this == IN_MEMORY || copiesCodes() == false;
  }

  /** Whether walks read codes rather than vectors. */
  public boolean copiesCodes() {
    return this == IN_MEMORY || this == MAPPED_GRAPH || this == HOST_FETCH;
  }

  /** Returns the name in settings, for instance {@code mapped-graph}. */
  public String settingName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
