package dev.vamana.search;

import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Decides between scoring every accepted vector and walking the graph.
 *
 * <p>A walk of beam width w over a graph of mean degree d computes about {@code 0.6 d (w + 12)}
 * distances, but in a small segment it meets the same nodes again and again, so that n vectors
 * bound it: {@code n (1 - exp(-0.6 d (w + 12) / n))}. A filter that accepts a share s multiplies
 * that by {@code 1/s}, since rejected nodes are walked through. A distance in a scan costs about
 * two thirds of one in a walk, which jumps about in memory. docs/internals/search.md compares this
 * with measured counts.
 */
final class SearchPlan {

  private static final double VISITS_PER_EDGE = 0.6;
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
    int size = segment.size();
    if (segment.hasGraph() == false || k >= size || k >= accepted) {
      return true;
    }
    double selectivity = (double) accepted / size;
    return SCAN_COST * accepted <= visits(size, segment.meanDegree(), k) / selectivity;
  }

  /**
   * The score of a product of 0, below which walks do not find the best: hits with negative
   * products are short vectors, which are near to no other by inner products, so that few edges
   * lead to them. Negative infinity where the graph is not one of inner products.
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

  /** About how many distances an unfiltered walk computes. */
  static double visits(int size, float meanDegree, int beamWidth) {
    double unbounded = VISITS_PER_EDGE * meanDegree * (beamWidth + APPROACH);
    return size * (1 - Math.exp(-unbounded / size));
  }
}
