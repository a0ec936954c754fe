package dev.vamana.graph;

/**
 * How wide the searches of a pass are. A search goes on from the nearest nodes and keeps a few
 * more: their distances are known, and robust prune chooses among more of them.
 *
 * @param kept nodes that a search keeps, at least 1
 * @param expanded the nearest of them, whose neighbours are looked at, 1 to {@code kept}
 */
record SearchWidths(int kept, int expanded) {

  // of BuildParameters.LEAST_FIRST_BEAM
  private static final int FIRST_EXPANDED = 16;

  /** Returns the widths of searches that expand all nodes that they keep. */
  static SearchWidths even(BuildParameters parameters) {
    int beam = parameters.passBeamWidth();
    return new SearchWidths(beam, beam);
  }

  /**
   * Returns the widths of the first pass of two, whose rows are where the second pass starts. They
   * are smaller.
   */
  static SearchWidths first(BuildParameters parameters) {
    int beam = parameters.passBeamWidth();
    return new SearchWidths(
        Math.min(beam, Math.max(BuildParameters.LEAST_FIRST_BEAM, beam / 2)),
        Math.min(beam, Math.max(FIRST_EXPANDED, beam * 3 / 8)));
  }

  /**
   * Returns the widths of the only search for a node of a graph that is joined to another: it has
   * neighbours there.
   */
  static SearchWidths joined(BuildParameters parameters) {
    int beam = parameters.passBeamWidth();
    return new SearchWidths(beam, Math.max(1, beam * 5 / 8));
  }

  /** Returns the widths of the second pass, which determines the finished rows. */
  static SearchWidths second(BuildParameters parameters) {
    int beam = parameters.passBeamWidth();
    return new SearchWidths(beam * 5 / 4, beam * 5 / 4);
  }
}
