package dev.vamana.search;

import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Decides whether the CPU scores every accepted vector or walks the graph.
 *
 * <p>A walk of beam width w over a graph of mean degree d computes about {@code 0.6 d (w + 12)}
 * distances. In a small segment of n vectors it meets nodes repeatedly, so the number is {@code n
 * (1 - exp(-0.6 d (w + 12) / n))}. A filter that accepts a share s multiplies it by {@code 1/s},
 * since rejected nodes are walked through. A distance in a scan costs two thirds of a distance in a
 * walk, whose memory accesses are random, or less in a segment that the processor's cache holds:
 * there a walk is slowed down by its heaps and its visited set instead, which cost the more beside
 * a distance the shorter the vectors are. docs/internals/search.md has the formulas.
 */
final class SearchPlan {

  private static final double VISITS_PER_EDGE = 0.6;
  private static final int APPROACH = 12;

  /** Cost of a scanned distance, in distances of a walk, where both wait for memory. */
  private static final double SCAN_COST = 2.0 / 3;

  /** The same for vectors of no length in the processor's cache. */
  private static final double CACHED_SCAN_COST = 0.3;

  /** Bytes of a vector that raise the cost of a cached scanned distance by 1. */
  private static final double BYTES_OF_A_WALKED_DISTANCE = 10_000;

  /** Bytes of vectors that caches hold beside other segments and other work. */
  private static final long CACHED_BYTES = 4 << 20;

  /** Largest cost of a search of graphs of values, in costs of a scan. */
  private static final double WORTH_OF_SCAN = 0.15;

  /**
   * The same, in costs of a walk. A distance of a walk over short rows takes about five times as
   * long: each step finds fewer of them, and estimates leave out less.
   */
  private static final double WORTH_OF_WALK = 0.2;

  private SearchPlan() {}

  /**
   * Whether scoring all accepted vectors is faster than a walk.
   *
   * @param k number of hits, or the beam width if larger
   * @param accepted estimated number of accepted vectors, at most {@code segment.size()}
   */
  static boolean scan(SegmentView segment, int k, int accepted) {
    return scan(segment, k, accepted, scanCost(segment));
  }

  /**
   * As {@link #scan(SegmentView, int, int)}, where an executor may walk. Its walks wait for memory,
   * whatever the processor's cache holds, and leave the processor to others. So it is offered
   * segments that the CPU would scan a little faster than walk.
   */
  static boolean scanBesideExecutor(SegmentView segment, int k, int accepted) {
    return scan(segment, k, accepted, SCAN_COST);
  }

  private static boolean scan(SegmentView segment, int k, int accepted, double scanCost) {
    int size = segment.size();
    if (segment.hasGraph() == false || k >= size || k >= accepted) {
      return true;
    }
    return scanCost * accepted <= filteredVisits(segment, k, accepted);
  }

  /**
   * Returns how much a search of graphs of values may cost, in distances of a walk. It is less
   * precise than a scan, so it has to be much cheaper. Parameters are as of {@link
   * #scan(SegmentView, int, int)}.
   */
  static double mostOfLabels(SegmentView segment, int k, int accepted) {
    double scan = WORTH_OF_SCAN * scanCost(segment) * accepted;
    return segment.hasGraph() == false || accepted == 0
        ? scan
        : Math.min(scan, WORTH_OF_WALK * filteredVisits(segment, k, accepted));
  }

  /** Returns the cost of a scanned distance, in distances of a walk. */
  static double scanCost(SegmentView segment) {
    long bytes = (long) segment.dimension() * segment.encoding().byteSize;
    return bytes * segment.size() > CACHED_BYTES
        ? SCAN_COST
        : Math.min(SCAN_COST, CACHED_SCAN_COST + bytes / BYTES_OF_A_WALKED_DISTANCE);
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
    return (long) Math.ceil(Math.max(scanCost(segment) * accepted, 2 * expected));
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
