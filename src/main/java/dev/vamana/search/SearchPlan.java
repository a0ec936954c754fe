package dev.vamana.search;

import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Decides whether the CPU scores every accepted vector or walks the graph.
 *
 * <p>A walk of beam width w over a graph of mean degree d computes about {@code 0.6 d (w + 12)}
 * distances. In a small segment of n vectors it meets nodes repeatedly, so the number is {@code n
 * (1 - exp(-0.6 d (w + 12) / n))}. A filter that accepts a share s multiplies it by {@code 1/s},
 * since rejected nodes are walked through. A distance in a scan costs about two thirds of a
 * distance in a walk, whose memory accesses are random. docs/internals/search.md compares this with
 * measured counts.
 */
final class SearchPlan {

  private static final double VISITS_PER_EDGE = 0.6;
  private static final int APPROACH = 12;
  private static final double SCAN_COST = 2.0 / 3;

  private SearchPlan() {}

  /**
   * Whether scoring all accepted vectors is faster than a walk.
   *
   * @param k number of hits, or the beam width if larger
   * @param accepted estimated number of accepted vectors, at most {@code segment.size()}
   */
  static boolean scan(SegmentView segment, int k, int accepted) {
    int size = segment.size();
    if (segment.hasGraph() == false || k >= size || k >= accepted) {
      return true;
    }
    return SCAN_COST * accepted <= filteredVisits(segment, k, accepted);
  }

  /**
   * Returns how many distances a filtered walk computes before a scan of the accepted vectors takes
   * its place. A filter that accepts only vectors far from the query makes a walk pass through all
   * nearer ones, which the accepted share does not tell. A walk that has cost as much as the scan
   * costs, and twice as much as expected, at most doubles the time of the better choice.
   *
   * @param k number of hits, or the beam width if larger
   * @param accepted estimated number of accepted vectors, at least 1
   */
  static long patience(SegmentView segment, int k, int accepted) {
    double expected = filteredVisits(segment, k, accepted);
    return (long) Math.ceil(Math.max(SCAN_COST * accepted, 2 * expected));
  }

  private static double filteredVisits(SegmentView segment, int k, int accepted) {
    double selectivity = (double) accepted / segment.size();
    return visits(segment.size(), segment.meanDegree(), k) / selectivity;
  }

  /**
   * Returns the score of an inner product of 0. Walks may miss better hits if some hits score less:
   * such hits are short vectors, which are near to no other vector by inner product, so few edges
   * lead to them.
   *
   * @return negative infinity if the graph's distances are not inner products
   */
  static float unreliableBelow(SegmentView segment) {
    if (segment.similarity() == VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT) {
      return 1;
    }
    boolean bytes = segment.encoding() == VectorEncoding.BYTE;
    return bytes && segment.similarity() == VectorSimilarityFunction.DOT_PRODUCT
        ? 0.5f
        : Float.NEGATIVE_INFINITY;
  }

  /** Returns the expected number of distances of an unfiltered walk. */
  static double visits(int size, float meanDegree, int beamWidth) {
    double unbounded = VISITS_PER_EDGE * meanDegree * (beamWidth + APPROACH);
    return size * (1 - Math.exp(-unbounded / size));
  }
}
