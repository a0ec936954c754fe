package dev.vamana.search;

/**
 * Decides between scoring every accepted vector and walking the graph.
 *
 * <p>A walk of beam width w over a graph of max degree R computes about {@code 0.4 R (w + 12)}
 * distances (measured on SIFT descriptors at R = 64 and widths 10 to 240: within 15 %), and a
 * filter that accepts a share s makes that {@code 1/s} times as many, since rejected nodes are
 * walked through. A distance in a scan costs about two thirds of one in a walk, which jumps about
 * in memory.
 */
final class SearchPlan {

  private static final double VISITS_PER_SLOT = 0.4;
  private static final int APPROACH = 12;
  private static final double SCAN_COST = 2.0 / 3;

  private SearchPlan() {}

  /**
   * Whether scoring all accepted vectors is the better plan.
   *
   * @param k hits wanted, or the beam width if it is larger
   * @param accepted about how many vectors are accepted, at most {@code segment.size()}
   */
  static boolean scan(SegmentView segment, int k, int accepted) {
    if (segment.hasGraph() == false || k >= segment.size() || k >= accepted) {
      return true;
    }
    double visits = VISITS_PER_SLOT * segment.maxDegree() * (k + APPROACH);
    double selectivity = (double) accepted / segment.size();
    return SCAN_COST * accepted <= visits / selectivity;
  }
}
